import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/**
 * `LEDGER_POD_HOURS=1000` takes a minute or two. The provider's own ledger test, without the controller, has a thousand hours in
 * every run; this one has each of the happenings twice.
 */
const POD_HOURS = Number(process.env.LEDGER_POD_HOURS ?? 60);
const [OCR_PODS, CHEAP_PODS] = POD_HOURS >= 1_000 ? [50, 32] : [12, 8];
const LOST = [
  'created-then-500',
  'created-then-cut',
  'created-then-null',
  'created-then-internal-error',
  'server-error',
  'cut',
] as const;
const LOOKS = ['exited', 'terminated', 'vanished'] as const;

/** Park and Miller's: the same hours every time. */
function dice(seed: number) {
  let state = seed;
  const roll = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const pick = <T>(things: readonly T[]): T | undefined => things[Math.floor(roll() * things.length)];
  return { roll, pick };
}

/** All that can happen comes up, in another order each time. */
function deckOf<T>(things: readonly T[], { roll }: ReturnType<typeof dice>): () => T | undefined {
  let deck: T[] = [];
  return () => {
    if (deck.length === 0) deck = [...things];
    return deck.splice(Math.floor(roll() * deck.length), 1)[0];
  };
}

function podHours({ fake }: RentedFleet): number {
  return fake.ledger().reduce((sum, { billedMs }) => sum + billedMs, 0) / HOUR_MS;
}

/** What a person at the console does, of whom no client is told; also that call may meet a fault. */
async function removeByHand({ fake }: RentedFleet, id: string): Promise<void> {
  await fetch(`${fake.restV2Url}/pods/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${fake.apiKey}`, 'user-agent': 'a person at the console' },
  }).catch(() => undefined);
}

type Happening = (rented: RentedFleet, chance: ReturnType<typeof dice>) => void | Promise<void>;

const running = ({ fake }: RentedFleet, spot: boolean) =>
  fake
    .pods()
    .filter(({ state, request }) => state === 'running' && (request.bidMicroUsdPerGpu !== null) === spot);

/** What happens to a fleet between two looks at its ledger. */
const HAPPENINGS = {
  work({ work }, { roll }) {
    const [ocr, cheap] = [200 + Math.floor(roll() * 600), 100 + Math.floor(roll() * 400)];
    work.demand.set('ocr', () => ocr);
    work.demand.set('cheap', () => cheap);
  },
  'spot is outbid': (rented, { pick }) => {
    rented.fake.outbid(pick(running(rented, true))?.id ?? '', pick(LOOKS));
  },
  'a pod is removed by hand': (rented, { pick }) =>
    removeByHand(rented, pick(running(rented, false))?.id ?? ''),
  'a container exits': (rented, { pick }) => {
    rented.fake.exitContainer(pick(running(rented, false))?.id ?? '');
  },
  'answers to creates are lost': ({ fake }, { roll, pick }) =>
    fake.nextCreates(2, { answer: pick(LOST) ?? 'cut', invisibleMs: Math.floor(roll() * 90_000) }),
  'answers to ends are lost': ({ fake }, { roll }) =>
    fake.failNext({
      ...{ api: 'v2', operation: 'DELETE /pods/{id}', times: 2, afterwards: roll() < 0.5 },
      ...(roll() < 0.5 ? { cut: true } : { status: 502 }),
    }),
  'the controller is killed': (rented) => rented.kill(),
  'the controller dies in a rent': (rented) => rented.killInNext('rent'),
  'the controller dies in an end': (rented) => rented.killInNext('terminate'),
} as const satisfies Record<string, Happening>;

type Name = keyof typeof HAPPENINGS;
const NAMES = Object.keys(HAPPENINGS) as Name[];

describe('R-051: the ledger against the bill of random pod-hours (must show)', () => {
  test('never_says_more_than_is_billed_never_falls_and_equals_the_bill_to_the_cent_once_it_was_read', async () => {
    const machine = { cards: [{ id: 'NVIDIA RTX A6000', maxUsdPerHour: 0 }], spot: 'prefer' as const };
    const rented = await RentedFleet.open({
      pools: [
        { name: 'ocr', maxPods: OCR_PODS, idleTimeoutMs: HOUR_MS },
        { name: 'cheap', maxPods: CHEAP_PODS, idleTimeoutMs: HOUR_MS, machine },
      ],
      control: { adoptionIntervalMs: 150_000 },
      ...{ longestPauseMs: 30_000, listingGapMs: 30_000 },
    });
    const { fake } = rented;
    fake.setStock({}, { free: 100 });
    const chance = dice(5);
    const draw = deckOf(NAMES, chance);
    const happened = new Map<Name, number>();
    let before = 0;
    for (let turn = 0; turn < 2 * NAMES.length || podHours(rented) < POD_HOURS; turn += 1) {
      const name = draw() ?? 'work';
      happened.set(name, (happened.get(name) ?? 0) + 1);
      await (HAPPENINGS[name] as Happening)(rented, chance);
      await rented.time.until(() => !rented.isAlive, Math.ceil(chance.roll() * 25 * MINUTE_MS));
      if (!rented.isAlive) {
        await rented.advance(Math.ceil(chance.roll() * 4 * MINUTE_MS));
        await rented.start();
      }
      const spentUsd = rented.spentUsd();
      expect(spentUsd).toBeGreaterThanOrEqual(before);
      expect(spentUsd).toBeLessThanOrEqual(fake.costUsd() + 1e-4);
      before = spentUsd;
    }
    expect(NAMES.filter((name) => (happened.get(name) ?? 0) < 2)).toEqual([]);

    rented.killInNext(null);
    rented.renter.endAll(0);
    await rented.until('all have left', () => rented.pods().length === 0, 2 * HOUR_MS);
    expect(rented.billing().pods).toBe(0);
    expect(rented.spentUsd()).toBeLessThanOrEqual(fake.costUsd() + 1e-4);
    await rented.advance(2 * HOUR_MS);
    const { ledger } = rented.fleet.money.state;
    expect(ledger.lines.size).toBe(0);
    expect(ledger.corrections.length).toBeGreaterThan(3);
    expect(fake.pods().length).toBeGreaterThan(POD_HOURS / 10);
    expect(fake.costUsd()).toBeGreaterThan(POD_HOURS / 5);
    expect(Math.abs(rented.spentUsd() - fake.costUsd())).toBeLessThan(0.005);
  });
});
