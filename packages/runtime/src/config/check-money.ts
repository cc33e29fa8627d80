import { type Config, imageOf, type Pool } from '@pagefleet/contract';
import type { Contradiction } from './check-config.ts';

/** What money needs before any may be spent, and the zone and times of day that go with it. */
export function checkMoney(config: Config): Contradiction[] {
  return [
    ...checkTimeZone(config),
    ...checkLimits(config),
    ...checkOneProvider(config),
    ...config.pools.flatMap((pool, index) => [
      ...checkMachine(pool, `pools[${index}]`),
      ...checkSchedule(pool, `pools[${index}]`),
    ]),
  ];
}

function checkTimeZone({ money }: Config): Contradiction[] {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: money.timeZone });
    return [];
  } catch {
    const expected = 'a zone of the tz database, such as Europe/Berlin';
    return [{ path: 'money.time_zone', got: JSON.stringify(money.timeZone), expected, involves: [] }];
  }
}

function checkLimits({ money, pools }: Config): Contradiction[] {
  const paid = pools.findIndex(isPaid);
  const found: Contradiction[] = [];
  for (const [name, soft, hard] of [
    ['usd_per_hour', money.usdPerHour, money.hardUsdPerHour],
    ['usd_per_day', money.usdPerDay, money.hardUsdPerDay],
  ] as const) {
    const path = `money.${name}`;
    if (soft === 0 && paid >= 0) {
      const pool = `pools[${paid}].provider`;
      const expected = `more than 0: ${pool} costs money, and nothing is rented without this limit`;
      found.push({ path, got: '0 (not set)', expected, involves: [pool] });
    }
    if (hard > 0 && hard < soft) {
      const expected = `0, or at least ${path} (${soft})`;
      found.push({ path: `money.hard_${name}`, got: String(hard), expected, involves: [path] });
    }
  }
  return found;
}

/** One account, one listing, one ledger. */
function checkOneProvider({ pools }: Config): Contradiction[] {
  const [first] = pools;
  return pools.flatMap(({ provider }, index) => {
    if (first === undefined || provider === first.provider) return [];
    const expected = `${first.provider}, as of pools[0]: all pools of a cluster share one provider`;
    return [{ path: `pools[${index}].provider`, got: provider, expected, involves: ['pools[0].provider'] }];
  });
}

function checkMachine(pool: Pool, path: string): Contradiction[] {
  if (!isPaid(pool)) return [];
  const { cards, maxUsdPerHour } = pool.machine;
  const involves = [`${path}.provider`];
  const found: Contradiction[] = [];
  if (imageOf(pool) === '') {
    const expected = 'the container image that its pods run';
    found.push({ path: `${path}.machine.image`, got: '""', expected, involves });
  }
  const isEachCardBounded = cards.length > 0 && cards.every((card) => card.maxUsdPerHour > 0);
  if (maxUsdPerHour === 0 && !isEachCardBounded) {
    found.push({
      path: `${path}.machine.max_usd_per_hour`,
      got: '0 (not set)',
      expected:
        'more than 0, or machine.cards with a max_usd_per_hour for each: no card is rented without a ceiling',
      involves: [...involves, `${path}.machine.cards`],
    });
  }
  return found;
}

function checkSchedule(pool: Pool, path: string): Contradiction[] {
  return pool.schedule.flatMap(({ minPods: floor, maxPods: cap }, index) => {
    const window = `${path}.schedule[${index}]`;
    const found: Contradiction[] = [];
    if (floor > pool.maxPods) {
      const expected = `at most max_pods of the pool (${pool.maxPods})`;
      const involves = [`${path}.max_pods`];
      found.push({ path: `${window}.min_pods`, got: String(floor), expected, involves });
    }
    if (cap >= 0 && floor > cap) {
      const expected = `at most max_pods of the window (${cap})`;
      found.push({
        path: `${window}.min_pods`,
        got: String(floor),
        expected,
        involves: [`${window}.max_pods`],
      });
    }
    return found;
  });
}

function isPaid(pool: Pool): boolean {
  return pool.provider !== 'local';
}
