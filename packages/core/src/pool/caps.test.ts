import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { caps } from './caps.ts';
import type { Lease } from './lease.ts';
import { liveCost } from './live-cost.ts';
import type { Pod } from './pod-state.ts';
import {
  booting,
  listed,
  listing,
  refusing,
  registry,
  serving,
  settings,
  T0,
  terminating,
  unreachable,
  world,
} from './world-kit.ts';

const PAID = { free: false, priceUsdPerHour: 0.5 };
const LIMITS = { usdPerHour: 2, usdPerDay: 20 };

function lease(pods: number, maxPods: number | null = null, expiresAtMs = T0 + 1): Lease {
  return { id: `${pods}`, pool: 'ocr', pods, maxPods, expiresAtMs };
}

function capOf(change: Parameters<typeof world>[0]) {
  const cap = caps(world(change)).pools.get('ocr');
  if (cap === undefined) throw new Error('the pool has a cap');
  return cap;
}

/** One pod in any state. */
const anyPod = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 1_000_000 }))
  .map(([kind, n]): Pod => {
    const make = [serving, booting, unreachable, refusing, terminating][kind] ?? serving;
    return make(`k${n}`);
  });
const anyRegistry = fc.array(anyPod, { maxLength: 12 }).map((pods) => registry(...pods));
const anyLeases = fc.array(
  fc.record({
    id: fc.string(),
    pool: fc.constantFrom('ocr', 'other'),
    pods: fc.integer({ min: 0, max: 40 }),
    maxPods: fc.option(fc.integer({ min: 0, max: 40 })),
    expiresAtMs: fc.integer({ min: T0 - 5, max: T0 + 5 }),
  }),
  { maxLength: 4 },
);

describe('R-039: caps', () => {
  test('count_every_pod_that_exists_healthy_or_not', () => {
    fc.assert(
      fc.property(anyRegistry, fc.integer({ min: 0, max: 20 }), (pods, maxPods) => {
        const cap = capOf({ registry: pods, pools: [settings({ maxPods })] });
        expect(cap.existing).toBe(pods.size);
        expect(cap.room).toBe(Math.max(0, maxPods - pods.size));
      }),
    );
  });

  test('count_a_pod_that_only_the_listing_shows_even_an_old_one', () => {
    const old = {
      newest: listing(T0 - 900_000, [listed({ key: 'x' }), listed({ key: 'y', cluster: 'c2' })]),
      previous: null,
    };
    expect(capOf({ listing: old }).existing).toBe(1);
  });

  test('L5_count_a_pod_that_only_one_listing_lacks_also_while_nobody_holds_it', () => {
    const shown = listing(T0 - 60_000, [listed({ key: 'theirs' })]);
    const lacking = listing(T0 - 1_000, []);
    const once = world({ listing: { newest: lacking, previous: shown } });
    expect(caps(once).pools.get('ocr')).toMatchObject({ existing: 1 });
    expect(liveCost(once)).toMatchObject({ bootingPods: 1 });
    const twice = world({ listing: { newest: lacking, previous: listing(T0 - 10_000, []) } });
    expect(caps(twice).pools.get('ocr')).toMatchObject({ existing: 0 });
    const held = world({
      registry: registry(serving('k1')),
      listing: { newest: lacking, previous: listing(T0 - 60_000, [listed()]) },
    });
    expect(caps(held).pools.get('ocr')).toMatchObject({ existing: 1 });
  });

  test('L2_a_lease_never_raises_the_cap_and_the_floor_stays_below_it', () => {
    fc.assert(
      fc.property(anyLeases, anyRegistry, fc.nat(12), fc.nat(12), (leases, pods, maxPods, minPods) => {
        const cap = capOf({ leases, registry: pods, pools: [settings({ maxPods, minPods })] });
        expect(cap.effective).toBeLessThanOrEqual(maxPods);
        expect(cap.floor).toBeLessThanOrEqual(cap.effective);
        if (maxPods === 0) expect(cap).toMatchObject({ room: 0, floor: 0 });
      }),
    );
  });

  test('the_tightest_lease_binds_until_it_expires', () => {
    expect(capOf({ leases: [lease(2, 6), lease(3, 4)] })).toMatchObject({
      effective: 4,
      floor: 3,
      binds: 'lease',
    });
    expect(capOf({ leases: [lease(3, 4, T0)] })).toMatchObject({
      effective: 10,
      floor: 0,
      binds: 'max_pods',
    });
  });

  test('a_lease_of_another_pool_is_no_matter', () => {
    expect(capOf({ leases: [{ ...lease(5, 1), pool: 'chat' }] })).toMatchObject({ effective: 10, floor: 0 });
  });

  test('a_schedule_narrows_and_lifts_only_within_its_window', () => {
    const window = { pool: 'ocr', fromMs: T0, untilMs: T0 + 10, minPods: 2, maxPods: 3 };
    expect(capOf({ schedule: [window] })).toMatchObject({ effective: 3, floor: 2, binds: 'schedule' });
    expect(capOf({ schedule: [window], nowMs: T0 + 10 })).toMatchObject({ effective: 10, floor: 0 });
  });

  test('stopping_caps_at_nothing', () => {
    expect(capOf({ stopping: true, pools: [settings({ minPods: 3 })] })).toMatchObject({
      countCap: 0,
      floor: 0,
      room: 0,
    });
  });
});

describe('R-051: budgets', () => {
  test('the_hourly_limit_leaves_room_for_what_it_pays', () => {
    const pods = registry(serving('a', { priceUsdPerHour: 0.5 }), unreachable('b', { priceUsdPerHour: 0.5 }));
    const cap = capOf({ registry: pods, limits: LIMITS, pools: [settings(PAID)] });
    expect(cap).toMatchObject({ room: 2, binds: 'usd_per_hour' });
  });

  test('L1_renting_within_the_room_never_passes_the_hourly_limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 3, noNaN: true }), { maxLength: 8 }),
        fc.double({ min: 0.1, max: 3, noNaN: true }),
        fc.double({ min: 0, max: 10, noNaN: true }),
        (prices, priceUsdPerHour, usdPerHour) => {
          const pods = registry(...prices.map((usd, i) => serving(`k${i}`, { priceUsdPerHour: usd })));
          const change = {
            registry: pods,
            limits: { usdPerHour, usdPerDay: 1_000 },
            pools: [settings({ free: false, priceUsdPerHour, maxPods: 100 })],
          };
          const { room } = capOf(change);
          const live = liveCost(world(change)).usdPerHour;
          if (room > 0) expect(live + room * priceUsdPerHour).toBeLessThanOrEqual(usdPerHour + 1e-6);
        },
      ),
    );
  });

  test('a_spent_day_leaves_no_room_and_says_so', () => {
    const change = { limits: LIMITS, spentTodayUsd: 20, pools: [settings(PAID)] };
    expect(capOf(change)).toMatchObject({ room: 0, binds: 'usd_per_day' });
    expect(caps(world(change)).isDaySpent).toBe(true);
  });

  test('a_day_that_pays_one_boot_has_room_for_one_pod', () => {
    const bootUsd = (0.5 * 700) / 3_600;
    const change = { limits: LIMITS, spentTodayUsd: 20 - bootUsd * 1.5, pools: [settings(PAID)] };
    expect(capOf(change)).toMatchObject({ room: 1, binds: 'usd_per_day' });
  });

  test.each([
    [{ usdPerHour: null, usdPerDay: 20 }, 1],
    [{ usdPerHour: 2, usdPerDay: null }, 1],
    [LIMITS, null],
  ])('without_both_limits_and_a_ledger_nothing_paid_is_rented', (limits, spentTodayUsd) => {
    expect(capOf({ limits, spentTodayUsd, pools: [settings(PAID)] })).toMatchObject({
      room: 0,
      binds: 'no_budget',
    });
  });

  test('a_free_provider_needs_no_budget', () => {
    expect(capOf({ spentTodayUsd: null })).toMatchObject({ room: 10, binds: 'max_pods' });
  });
});

describe('R-050, L12: live cost', () => {
  test('is_the_sum_of_its_parts_and_shows_the_pods_it_pays_for', () => {
    fc.assert(
      fc.property(anyRegistry, (pods) => {
        const cost = liveCost(
          world({
            registry: new Map([...pods].map(([key, pod]) => [key, { ...pod, priceUsdPerHour: 0.25 }])),
          }),
        );
        expect(cost.usdPerHour).toBeCloseTo(
          cost.servingUsdPerHour + cost.bootingUsdPerHour + cost.setAsideUsdPerHour,
        );
        expect(cost.servingPods + cost.bootingPods + cost.setAsidePods).toBe(pods.size);
        expect(cost.usdPerHour).toBeCloseTo(0.25 * pods.size);
      }),
    );
  });

  test('counts_what_only_the_listing_shows_and_names_what_has_no_price', () => {
    const newest = listing(T0, [
      listed({ key: 'x', priceUsdPerHour: 0.7 }),
      listed({ key: 'y', priceUsdPerHour: null }),
    ]);
    const cost = liveCost(world({ listing: { newest, previous: null } }));
    expect(cost).toMatchObject({ usdPerHour: 0.7, bootingPods: 2, unpricedPods: 1 });
  });
});
