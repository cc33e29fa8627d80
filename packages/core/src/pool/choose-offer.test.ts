import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseOffers, pricedPools } from './choose-offer.ts';
import { decide } from './decide.ts';
import { type Offer, type OfferPolicy, offerName } from './offer.ts';
import { ceilingUsdPerHour } from './pool-settings.ts';
import {
  booting,
  listedOf,
  listing,
  memory,
  registry,
  reports,
  serving,
  settings,
  T0,
  world,
} from './world-kit.ts';

const POLICY: OfferPolicy = { cards: [], minMemoryGb: 0, clouds: ['secure', 'community'], spot: 'never' };
const A40: Offer = {
  ...{ card: 'A40', cloud: 'secure', spot: false, memoryGb: 48, priceUsdPerHour: 0.44, stock: 'low' },
};
const L4: Offer = { ...A40, card: 'L4', memoryGb: 24, priceUsdPerHour: 0.43, stock: 'high' };
const limits = { usdPerHour: 100, usdPerDay: 1_000 };

function paid(policy: Partial<OfferPolicy> = {}, change: Parameters<typeof settings>[0] = {}) {
  return settings({
    ...{ free: false, priceUsdPerHour: null, policy: { ...POLICY, ...policy }, ...change },
  });
}

function among(offers: readonly Offer[], pool = paid(), change: Parameters<typeof world>[0] = {}) {
  return chooseOffers(pool, world({ offers: { atMs: T0, source: 'graphql', offers }, ...change }));
}

const cards = (choice: ReturnType<typeof chooseOffers>) => choice.ranked.map((offer) => offer.card);

describe('R-052: what is rented', () => {
  test('is_the_cheapest_that_is_allowed', () => {
    expect(cards(among([A40, L4]))).toEqual(['L4', 'A40']);
    expect(cards(among([A40, L4], paid({ minMemoryGb: 40 })))).toEqual(['A40']);
    expect(cards(among([A40, { ...L4, cloud: 'community' }], paid({ clouds: ['secure'] })))).toEqual(['A40']);
    expect(cards(among([A40, L4], paid({ cards: [{ card: 'A40', maxUsdPerHour: null }] })))).toEqual(['A40']);
  });

  test('costs_no_more_than_the_pools_and_the_cards_ceiling', () => {
    const ofCard = paid({ cards: [{ card: 'A40', maxUsdPerHour: 0.4 }] }, { maxPriceUsdPerHour: 1 });
    expect(among([A40], ofCard)).toEqual({
      ranked: [],
      why: 'every card that is allowed is above its ceiling',
    });
    expect(cards(among([A40, L4], paid({}, { maxPriceUsdPerHour: 0.43 })))).toEqual(['L4']);
  });

  test('has_a_price', () => {
    expect(among([{ ...A40, priceUsdPerHour: 0 }]).ranked).toEqual([]);
  });

  test('is_nothing_while_no_catalogue_came_in_or_only_an_ancient_one', () => {
    expect(among([], paid(), { offers: null }).why).toContain('no catalogue');
    const old = { atMs: T0 - 8 * 86_400_000, source: 'saved', offers: [A40] } as const;
    expect(among([], paid(), { offers: old }).why).toContain('older than a week');
  });

  test('is_worth_its_price_by_the_page_once_that_was_measured', () => {
    const rates = memory({ cardRates: { A40: 4, L4: 1 } });
    expect(cards(among([A40, L4], paid(), { memory: rates }))).toEqual(['A40', 'L4']);
    const T4 = { ...L4, card: 'T4', priceUsdPerHour: 0.3 };
    expect(cards(among([A40, L4, T4], paid(), { memory: rates }))).toEqual(['A40', 'T4', 'L4']);
  });
});

describe('stock (contract section 8, rows 1, 2, 4)', () => {
  test('never_rules_an_offer_out_and_puts_only_a_sold_out_one_last', () => {
    expect(cards(among([{ ...L4, stock: 'none' }, A40]))).toEqual(['A40', 'L4']);
    expect(cards(among([{ ...L4, stock: 'low' }, A40]))).toEqual(['L4', 'A40']);
  });

  test('a_refusal_sets_one_offer_aside_and_the_next_one_is_tried_at_once', () => {
    const pools = [paid({}, { minPods: 1 })];
    const offers = { atMs: T0, source: 'graphql', offers: [A40, L4] } as const;
    const first = decide(world({ pools, offers, limits }));
    expect(first.actions).toMatchObject([{ kind: 'rent', offer: { card: 'L4' }, priceUsdPerHour: 0.43 }]);
    const { id: _, ...pod } = serving('a', { offer: L4 });
    const refused = {
      ...pod,
      id: null,
      state: 'terminated',
      atMs: T0,
      why: 'refused',
      fault: 'no-capacity',
    } as const;
    const second = decide(world({ pools, offers, limits, registry: registry(refused) }));
    expect(second.memory.pools.ocr?.setAside).toEqual({
      [offerName(L4)]: { times: 1, untilMs: T0 + 60_000 },
    });
    expect(second.actions).toMatchObject([{ kind: 'rent', offer: { card: 'A40' } }]);
    const both = {
      [offerName(L4)]: { times: 1, untilMs: T0 + 60_000 },
      [offerName(A40)]: { times: 2, untilMs: T0 + 90_000 },
    };
    const third = decide(world({ pools, offers, limits, memory: memory({ setAside: both }) }));
    expect(third.actions).toEqual([]);
    expect(third.pools[0]?.note).toContain('all 2 offers were refused or failed lately; next try in 60 s');
  });
});

describe('R-056: spot', () => {
  const spot = { ...A40, spot: true, priceUsdPerHour: 0.2 };
  test.each<[OfferPolicy['spot'], boolean[]]>([
    ['never', [false]],
    ['only', [true]],
    ['prefer', [true, false]],
  ])('%s', (policy, expected) => {
    expect(among([A40, spot], paid({ spot: policy })).ranked.map((offer) => offer.spot)).toEqual(expected);
  });

  test('that_costs_as_much_as_on_demand_is_not_taken (section 8, row 6)', () => {
    const dear = { ...spot, priceUsdPerHour: 0.44 };
    expect(among([A40, dear], paid({ spot: 'prefer' })).ranked.map((offer) => offer.spot)).toEqual([false]);
    expect(among([A40, dear], paid({ spot: 'only' })).ranked).toEqual([]);
  });
});

describe('what is learnt of an offer', () => {
  test('a_boot_that_failed_sets_it_aside_and_one_that_came_up_takes_it_back', () => {
    const late = booting('a', { offer: A40, deadlineMs: T0 });
    const failed = decide(world({ registry: registry(late), pools: [paid()] }));
    expect(failed.memory.pools.ocr?.setAside[offerName(A40)]).toMatchObject({ times: 1 });
    const up = booting('a', { offer: A40, asked: { purpose: 'boot', askedAtMs: T0 - 1_000 } });
    const probes = new Map([
      ['a', { purpose: 'boot', askedAtMs: T0 - 1_000, endedAtMs: T0 - 500, outcome: 'ready' }],
    ] as const);
    const held = memory({ setAside: failed.memory.pools.ocr?.setAside ?? {} });
    const came = decide(world({ registry: registry(up), probes, pools: [paid()], memory: held }));
    expect(came.memory.pools.ocr?.setAside).toEqual({});
  });

  test('a_bill_above_the_cards_ceiling_sets_it_aside_and_ends_the_pod (section 8, row 5)', () => {
    const pod = serving('a', { offer: A40, priceUsdPerHour: 0.66 });
    const pool = paid({ cards: [{ card: 'A40', maxUsdPerHour: 0.5 }] });
    const plan = decide(
      world({
        registry: registry(pod),
        pools: [pool],
        listing: { newest: listing(T0 - 1_000, [listedOf(pod)]), previous: null },
      }),
    );
    expect(plan.transitions.at(-1)).toMatchObject({ to: 'draining', event: { why: 'overpriced' } });
    expect(plan.memory.pools.ocr?.setAside[offerName(A40)]).toMatchObject({ times: 1 });
  });

  test('pages_per_second_are_measured_on_busy_pods_only', () => {
    const pods = registry(serving('a', { offer: A40 }), serving('b', { offer: L4 }));
    const change = { registry: pods, pools: [paid()] };
    const seen = reports({ a: { inflight: 8, pagesPerSecond: 2 }, b: { inflight: 1, pagesPerSecond: 0.1 } });
    expect(decide(world({ ...change, reports: seen })).memory.pools.ocr?.cardRates).toEqual({ A40: 2 });
  });
});

describe('a rent that is refused for a reason of ours', () => {
  const { id: _, ...pod } = serving('a', { offer: A40 });
  const refused = (fault: 'account' | 'request' | 'wait') =>
    ({ ...pod, id: null, state: 'terminated', atMs: T0, why: 'refused', fault }) as const;

  test.each(['account', 'request'] as const)('%s: waits, doubling, and raises an alarm', (fault) => {
    const plan = decide(
      world({ registry: registry(refused(fault)), pools: [paid()], memory: memory({ refusals: 1 }) }),
    );
    expect(plan.memory.pools.ocr).toMatchObject({ refusals: 2, refusedUntilMs: T0 + 60_000, setAside: {} });
    expect(plan.alarms).toHaveLength(1);
  });

  test('wait: nothing is held against anybody, and it is tried again after 30 s', () => {
    const plan = decide(world({ registry: registry(refused('wait')), pools: [paid()] }));
    expect(plan.memory.pools.ocr).toMatchObject({ refusals: 0, refusedUntilMs: T0 + 30_000, setAside: {} });
    expect(plan.alarms).toEqual([]);
  });
});

test('R-044_a_pod_is_replaced_before_the_provider_would_end_it', () => {
  const pool = paid({}, { maxAgeMs: 86_400_000, graceMs: 600_000, bootEstimateMs: 700_000 });
  const born = T0 - 86_400_000 + 1_300_000;
  const aged = (createdAtMs: number) =>
    decide(world({ registry: registry(serving('a', { createdAtMs })), pools: [pool] })).transitions.at(-1);
  expect(aged(born)).toMatchObject({ to: 'draining', event: { why: 'too-old' } });
  expect(aged(born + 1)?.to).not.toBe('draining');
});

const anyOffer: fc.Arbitrary<Offer> = fc.record({
  card: fc.constantFrom('A40', 'L4', 'T4', 'H100'),
  cloud: fc.constantFrom('secure' as const, 'community' as const),
  spot: fc.boolean(),
  memoryGb: fc.constantFrom(16, 24, 48, 80),
  priceUsdPerHour: fc.constantFrom(0, 0.1, 0.3, 0.44, 2),
  stock: fc.constantFrom('high', 'low', 'none', null),
});

test('L2_a_lease_never_adds_a_card_and_no_offer_breaks_the_policy', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyOffer, { selector: offerName, maxLength: 12 }),
      fc.option(fc.subarray(['A40', 'L4', 'T4', 'B200']), { nil: undefined }),
      fc.constantFrom('never' as const, 'prefer' as const, 'only' as const),
      fc.constantFrom(null, 0.3, 1),
      (offers, leased, spot, ceiling) => {
        const pool = paid(
          {
            spot,
            minMemoryGb: 24,
            clouds: ['secure'],
            cards: [
              { card: 'A40', maxUsdPerHour: 0.4 },
              { card: 'L4', maxUsdPerHour: null },
            ],
          },
          { maxPriceUsdPerHour: ceiling },
        );
        const lease = { id: 'l', pool: 'ocr', pods: 1, maxPods: null, expiresAtMs: T0 + 1 };
        const leases = leased === undefined ? [] : [{ ...lease, cards: leased }];
        const free = among(offers, pool).ranked;
        const narrowed = among(offers, pool, { leases }).ranked;
        for (const offer of narrowed) {
          expect(free).toContainEqual(offer);
          expect(leased ?? ['A40', 'L4']).toContain(offer.card);
          expect(offer.cloud).toBe('secure');
          expect(offer.memoryGb).toBeGreaterThanOrEqual(24);
          expect(offer.priceUsdPerHour).toBeLessThanOrEqual(ceilingUsdPerHour(pool, offer.card) ?? 99);
          expect(offer.priceUsdPerHour).toBeGreaterThan(0);
          if (spot !== 'prefer') expect(offer.spot).toBe(spot === 'only');
        }
        const [priced] = pricedPools([pool], world({ offers: { atMs: T0, source: 'rest', offers }, leases }));
        expect(priced?.offer ?? null).toEqual(narrowed[0] ?? null);
      },
    ),
  );
});
