import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Pod } from './pod-state.ts';
import {
  booting,
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

describe('shedding', () => {
  test('what_is_above_the_cap_leaves_boots_first_then_the_least_busy', () => {
    const pods = registry(serving('a'), serving('b'), booting('c'), unreachable('d'));
    const plan = decide(
      world({
        registry: pods,
        pools: [settings({ maxPods: 1 })],
        reports: reports({ a: { inflight: 3 } }, { inflight: 3 }),
      }),
    );
    const left = plan.transitions.filter((t) => t.from !== t.to).map((t) => `${t.podKey} ${t.to}`);
    expect(left).toEqual(['c terminating', 'd draining', 'b draining']);
  });

  test('L1_leaving_pods_still_count_so_nothing_is_rented_in_their_place', () => {
    const plan = decide(
      world({ registry: registry(terminating('a')), pools: [settings({ minPods: 1, maxPods: 1 })] }),
    );
    expect(rents(plan)).toBe(0);
  });

  test('a_spent_day_drains_paid_pods_even_when_the_workers_are_unknown', () => {
    const pods = registry(serving('a', { priceUsdPerHour: 0.5 }), serving('b'));
    const plan = decide(
      world({ registry: pods, reports: null, spentTodayUsd: 9, limits: { usdPerHour: 9, usdPerDay: 9 } }),
    );
    expect(plan.transitions).toMatchObject([{ podKey: 'a', to: 'draining', event: { why: 'over-budget' } }]);
  });

  test('above_the_hourly_limit_as_many_drain_as_bring_it_back', () => {
    const pods = registry(...['a', 'b', 'c'].map((key) => serving(key, { priceUsdPerHour: 1 })));
    const plan = decide(world({ registry: pods, limits: { usdPerHour: 1.5, usdPerDay: 100 } }));
    expect(plan.transitions).toHaveLength(2);
  });

  test('pods_that_leave_already_are_no_reason_to_send_more_after_them', () => {
    const pods = registry(terminating('a', { priceUsdPerHour: 1 }), serving('b', { priceUsdPerHour: 1 }));
    const plan = decide(world({ registry: pods, limits: { usdPerHour: 1, usdPerDay: 100 } }));
    expect(plan.transitions).toEqual([]);
  });

  test('what_is_above_the_cap_stays_while_the_workers_are_unknown', () => {
    const pods = registry(serving('a'), serving('b'));
    const plan = decide(world({ registry: pods, pools: [settings({ maxPods: 1 })], reports: null }));
    expect(plan.transitions).toEqual([]);
  });

  test('down_ends_boots_drains_the_rest_and_ends_idle_ones_at_once', () => {
    const pods = registry(serving('a'), booting('b'));
    const plan = decide(
      world({
        registry: pods,
        stopping: true,
        pools: [settings({ minPods: 2 })],
        reports: reports({ a: { inflight: 1 } }, { inflight: 1 }),
      }),
    );
    expect(plan.actions).toMatchObject([{ kind: 'terminate', podKey: 'b' }]);
    const idle = decide(world({ registry: pods, stopping: true }));
    expect(idle.actions).toHaveLength(2);
  });
});

describe('draining', () => {
  const draining: Pod = {
    ...terminating('a'),
    state: 'draining',
    sinceMs: T0 - 5_000,
    deadlineMs: T0 + 60_000,
  };

  test('ends_when_every_worker_says_that_no_page_is_left', () => {
    expect(decide(world({ registry: registry(draining) })).actions).toMatchObject([
      { kind: 'terminate', why: 'idle' },
    ]);
    expect(
      decide(world({ registry: registry(draining), reports: reports({ a: { inflight: 1 } }) })).actions,
    ).toEqual([]);
    expect(
      decide(world({ registry: registry(draining), reports: reports({}, {}, { complete: false }) })).actions,
    ).toEqual([]);
    expect(decide(world({ registry: registry(draining), reports: null })).actions).toEqual([]);
  });

  test('waits_until_workers_have_read_of_it', () => {
    const early = { ...draining, sinceMs: T0 - 4_999 };
    expect(decide(world({ registry: registry(early) }))).toMatchObject({ actions: [], wakeAtMs: T0 + 1 });
  });

  test('ends_at_its_deadline_whatever_runs', () => {
    const over = { ...draining, deadlineMs: T0 };
    expect(
      decide(world({ registry: registry(over), reports: reports({ a: { inflight: 1 } }) })).actions,
    ).toHaveLength(1);
  });
});
