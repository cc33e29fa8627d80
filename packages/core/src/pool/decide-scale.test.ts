import { describe, expect, test } from 'vitest';
import { applyPlan } from './apply-plan.ts';
import { decide } from './decide.ts';
import type { Plan } from './plan.ts';
import type { Pod } from './pod-state.ts';
import type { World } from './world.ts';
import {
  booting,
  HASH,
  memory,
  refusing,
  registry,
  rents,
  reports,
  serving,
  settings,
  T0,
  terminating,
  unreachable,
  world,
} from './world-kit.ts';

function noteOf(plan: Plan): string {
  return plan.pools.map((pool) => pool.note).join();
}

function full(key: string) {
  return { [key]: { inflight: 8, lastGoodMs: T0 - 1 } };
}

/** Steps of 5 s with the same demand; the pods that are rented stay in `renting`. Gives the seconds until the first rent. */
function secondsUntilRent(start: World, limitS = 3_000): number {
  let now = start;
  for (let s = 0; s <= limitS; s += 5) {
    const at = { ...now, nowMs: T0 + s * 1_000 };
    const plan = decide({
      ...at,
      listing: {
        newest: { startedAtMs: at.nowMs - 100, endedAtMs: at.nowMs - 50, pods: [] },
        previous: null,
      },
    });
    if (rents(plan) > 0) return s;
    now = applyPlan(at, plan, () => ({ key: `r${s}`, name: `r${s}` }));
  }
  return Number.POSITIVE_INFINITY;
}

const ONE_FULL = { registry: registry(serving('a')), pools: [settings({ maxPods: 20, rampPods: 8 })] };

describe('rent or wait', () => {
  test('from_0_to_1_pod_at_once', () => {
    expect(rents(decide(world({ reports: reports({}, { waiting: 500 }) })))).toBe(1);
    expect(rents(decide(world({ reports: reports({}, { unsplit: 1 }) })))).toBe(1);
    expect(rents(decide(world({ reports: reports({}, { refused: 1 }) })))).toBe(1);
  });

  test('one_more_pod_when_waiting_has_cost_a_boot', () => {
    const start = world({ ...ONE_FULL, reports: reports(full('a'), { inflight: 8, waiting: 8 }) });
    const s = secondsUntilRent(start);
    expect(s).toBeGreaterThanOrEqual(700);
    expect(s).toBeLessThanOrEqual(715);
  });

  test('ten_times_the_deficit_waits_a_tenth', () => {
    const s = secondsUntilRent(
      world({ ...ONE_FULL, reports: reports(full('a'), { inflight: 8, waiting: 80 }) }),
    );
    expect(s).toBeGreaterThanOrEqual(70);
    expect(s).toBeLessThanOrEqual(80);
  });

  test('demand_that_fits_rents_nothing_ever', () => {
    expect(secondsUntilRent(world({ ...ONE_FULL, reports: reports(full('a'), { inflight: 8 }) }))).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  test('nothing_while_idle_width_could_be_lent', () => {
    const half = reports({ a: { inflight: 4, lastGoodMs: T0 - 1 } }, { inflight: 4, waiting: 100 });
    expect(secondsUntilRent(world({ ...ONE_FULL, reports: half }), 1_000)).toBe(Number.POSITIVE_INFINITY);
  });

  test('a_pause_of_the_machine_is_not_charged_as_waiting', () => {
    const paused = memory({ debtAtMs: T0 - 3_600_000, deficit: 100 });
    const work = reports(full('a'), { inflight: 8, waiting: 100 });
    const plan = decide(world({ ...ONE_FULL, memory: paused, reports: work }));
    expect(plan.memory.pools.ocr?.debtPageMs).toBe(100 * 10_000);
  });

  test('the_sum_never_grows_beyond_one_ramp', () => {
    const held = memory({ debtPageMs: 1e12, debtAtMs: T0, deficit: 100 });
    const work = reports(full('a'), { inflight: 8, waiting: 100 });
    const plan = decide(
      world({
        registry: registry(serving('a')),
        pools: [settings({ maxPods: 1 })],
        memory: held,
        reports: work,
      }),
    );
    expect(plan.memory.pools.ocr?.debtPageMs).toBe(4 * 8 * 700_000);
  });

  test('R-033_pods_set_aside_and_our_boots_are_capacity', () => {
    const pods = registry(
      serving('a'),
      unreachable('b', { nextProbeMs: T0 + 9e9 }),
      refusing('c', { nextProbeMs: T0 + 9e9 }),
      booting('d'),
    );
    const plan = decide(
      world({
        registry: pods,
        reports: reports(full('a'), { inflight: 8, waiting: 24 }),
        memory: memory({ debtPageMs: 1e9, deficit: 9 }),
      }),
    );
    expect(rents(plan)).toBe(0);
    expect(plan.pools).toMatchObject([{ demand: 32, capacity: 32 }]);
  });

  test('pages_that_leaving_pods_still_finish_are_no_demand', () => {
    const draining: Pod = { ...terminating('b'), state: 'draining', deadlineMs: T0 + 600_000 };
    const plan = decide(
      world({
        registry: registry(serving('a'), draining),
        reports: reports({ ...full('a'), ...full('b') }, { inflight: 16 }),
      }),
    );
    expect(plan.pools).toMatchObject([{ demand: 8, capacity: 8 }]);
  });
});

describe('floors', () => {
  test('are_rented_at_once_up_to_the_ramp', () => {
    const plan = decide(world({ pools: [settings({ minPods: 6, rampPods: 4 })] }));
    expect(rents(plan)).toBe(4);
    expect(noteOf(plan)).toContain('at most 4');
  });

  test('of_a_lease_too_and_never_above_the_cap', () => {
    const leases = [{ id: 'l', pool: 'ocr', pods: 8, maxPods: null, expiresAtMs: T0 + 1 }];
    expect(rents(decide(world({ leases, pools: [settings({ maxPods: 3 })] })))).toBe(3);
  });

  test('count_boots_and_pods_set_aside', () => {
    const pods = registry(booting('a'), unreachable('b'), serving('c'));
    expect(rents(decide(world({ registry: pods, pools: [settings({ minPods: 3 })] })))).toBe(0);
  });
});

describe('what holds rents back', () => {
  const WANTS = { pools: [settings({ minPods: 3 })] };

  test.each<[string, Partial<World>, string]>([
    [
      'no_listing_of_this_life',
      { ...WANTS, listing: { newest: null, previous: null } },
      'no complete listing',
    ],
    [
      'a_stale_listing',
      { ...WANTS, listing: { newest: { startedAtMs: 0, endedAtMs: 0, pods: [] }, previous: null } },
      'too old',
    ],
    ['unknown_workers', { ...WANTS, reports: null }, 'not known'],
    ['no_price', { pools: [settings({ minPods: 3, free: false, priceUsdPerHour: null })] }, 'no price'],
    [
      'a_price_above_the_ceiling',
      { pools: [settings({ minPods: 3, priceUsdPerHour: 2, maxPriceUsdPerHour: 1 })] },
      'ceiling',
    ],
    [
      'a_cap_of_0',
      { pools: [settings({ minPods: 3, maxPods: 0 })], reports: reports({}, { waiting: 5 }) },
      'renting is off',
    ],
    [
      'a_refusal_a_moment_ago',
      { ...WANTS, memory: memory({ refusals: 1, refusedUntilMs: T0 + 1 }) },
      'refused',
    ],
    [
      'three_failed_boots',
      { ...WANTS, memory: memory({ failedBoots: 3, suspendedUntilMs: T0 + 1 }) },
      'failed',
    ],
  ])('%s', (_name, change, why) => {
    const plan = decide(world(change));
    expect(rents(plan)).toBe(0);
    expect(noteOf(plan)).toContain(why);
  });

  test('the_first_of_its_configuration_until_it_has_read_a_page', () => {
    const unproven = memory({ provenHashes: [] });
    expect(rents(decide(world({ ...WANTS, memory: unproven })))).toBe(1);
    expect(rents(decide(world({ ...WANTS, memory: unproven, registry: registry(booting('a')) })))).toBe(0);
    const up = world({ ...WANTS, memory: unproven, registry: registry(serving('a', { nextProbeMs: T0 })) });
    expect(decide(up).actions).toMatchObject([{ kind: 'trial', podKey: 'a' }]);
    const read = decide({ ...up, reports: reports({ a: { good: 1, used: 1, lastGoodMs: T0 - 1 } }) });
    expect(rents(read)).toBe(2);
    expect(read.memory.pools.ocr?.provenHashes).toEqual([HASH]);
  });

  test('after_three_failed_boots_one_trial_at_a_time', () => {
    const due = memory({ failedBoots: 3, suspendedUntilMs: T0 });
    expect(rents(decide(world({ ...WANTS, memory: due })))).toBe(1);
    expect(rents(decide(world({ ...WANTS, memory: due, registry: registry(booting('a')) })))).toBe(0);
  });

  test('15_minutes_of_failed_pages_without_a_good_one', () => {
    const barren = memory({ failedPages: 3, lastFailedPageMs: T0 - 1_000, lastGoodPageMs: T0 - 900_000 });
    const plan = decide(
      world({ pools: [settings({ minPods: 2 })], registry: registry(serving('a')), memory: barren }),
    );
    expect(noteOf(plan)).toContain('none was finished');
    const fruitful = memory({ failedPages: 3, lastFailedPageMs: T0 - 1_000, lastGoodPageMs: T0 - 899_000 });
    expect(
      rents(
        decide(
          world({ pools: [settings({ minPods: 2 })], registry: registry(serving('a')), memory: fruitful }),
        ),
      ),
    ).toBe(1);
  });

  test('money_shared_by_two_pools_is_spent_once', () => {
    const paid = { minPods: 3, free: false, priceUsdPerHour: 0.5 };
    const pools = [settings(paid), settings({ ...paid, name: 'chat' })];
    const both = { ...memory(), pools: { ...memory().pools, ...memory({}, 'chat').pools } };
    const plan = decide(world({ pools, memory: both, limits: { usdPerHour: 2, usdPerDay: 100 } }));
    expect(rents(plan)).toBe(4);
  });
});

describe('failed boots', () => {
  const late = booting('a', { deadlineMs: T0 });

  test('are_ended_and_the_third_in_a_row_suspends_for_10_minutes_then_20', () => {
    const third = decide(world({ registry: registry(late), memory: memory({ failedBoots: 2 }) }));
    expect(third.actions).toMatchObject([{ kind: 'terminate', why: 'boot-failed' }]);
    expect(third.memory.pools.ocr).toMatchObject({ failedBoots: 3, suspendedUntilMs: T0 + 600_000 });
    expect(third.alarms.join()).toContain('suspended');
    const fourth = decide(world({ registry: registry(late), memory: memory({ failedBoots: 3 }) }));
    expect(fourth.memory.pools.ocr?.suspendedUntilMs).toBe(T0 + 1_200_000);
  });

  test('of_another_configuration_hold_nothing_back', () => {
    const wants = { pools: [settings({ minPods: 1 })] };
    const failed = { failedBoots: 3, suspendedUntilMs: T0 + 600_000 };
    const changed = { ...wants, memory: memory({ ...failed, failedHash: 'what-it-was-before' }) };
    expect(rents(decide(world(changed)))).toBeGreaterThan(0);
    expect(decide(world(changed)).memory.pools.ocr).toMatchObject({ failedBoots: 0, suspendedUntilMs: 0 });
    const same = { ...wants, memory: memory({ ...failed, failedHash: settings().configHash }) };
    expect(rents(decide(world(same)))).toBe(0);
  });

  test('are_forgotten_by_one_that_came_up', () => {
    const asked = booting('a', { asked: { purpose: 'boot', askedAtMs: T0 - 500 } });
    const probes = new Map([
      ['a', { purpose: 'boot', askedAtMs: T0 - 500, endedAtMs: T0 - 100, outcome: 'ready' }],
    ] as const);
    const plan = decide(
      world({
        registry: registry(asked),
        probes,
        memory: memory({ failedBoots: 3, suspendedUntilMs: T0 + 5 }),
      }),
    );
    expect(plan.memory.pools.ocr).toMatchObject({ failedBoots: 0, suspendedUntilMs: 0 });
  });

  test('L5_are_excused_while_nobody_answers', () => {
    const silent = world({ registry: registry(late, serving('b')) });
    const plan = decide(silent);
    expect(plan.actions.filter((action) => action.kind === 'terminate')).toEqual([]);
    expect(plan.memory.pools.ocr?.failedBoots).toBe(0);
  });
});

describe('keep or drop', () => {
  const TWO = registry(serving('a'), serving('b'));

  test('a_pod_too_many_for_a_boot_time_drains_and_the_idle_one_goes', () => {
    const since = memory({ surplusSinceMs: [T0 - 700_000] });
    const plan = decide(
      world({
        registry: TWO,
        memory: since,
        reports: reports({ a: { inflight: 5, lastGoodMs: T0 } }, { inflight: 5 }),
      }),
    );
    expect(plan.transitions).toMatchObject([{ podKey: 'b', to: 'draining', event: { why: 'idle' } }]);
    const early = memory({ surplusSinceMs: [T0 - 699_000] });
    expect(decide(world({ registry: TWO, memory: early })).transitions).toEqual([]);
  });

  test('never_below_the_floor', () => {
    const since = memory({ surplusSinceMs: [1, 1] });
    const plan = decide(world({ registry: TWO, memory: since, pools: [settings({ minPods: 1 })] }));
    expect(plan.transitions).toHaveLength(1);
  });

  test('a_silent_worker_is_never_idle', () => {
    const since = memory({ surplusSinceMs: [1, 1] });
    const silent = reports({}, {}, { complete: false, stale: ['w2'] });
    expect(decide(world({ registry: TWO, memory: since, reports: silent })).transitions).toEqual([]);
    expect(decide(world({ registry: TWO, memory: since, reports: null })).transitions).toEqual([]);
  });

  test('an_idle_timeout_of_the_pool_replaces_the_boot_time', () => {
    const since = memory({ surplusSinceMs: [T0 - 60_000] });
    const plan = decide(
      world({
        registry: registry(serving('a')),
        memory: since,
        pools: [settings({ idleTimeoutMs: 60_000 })],
      }),
    );
    expect(plan.transitions).toMatchObject([{ to: 'draining' }]);
  });
});
