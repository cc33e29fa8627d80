import { describe, expect, test } from 'vitest';
import { enterRegistry } from './adopt.ts';
import { applyPlan } from './apply-plan.ts';
import { decide } from './decide.ts';
import { isEmptyPlan } from './plan.ts';
import type { RentingPod } from './pod-state.ts';
import { transition } from './pod-transition.ts';
import { reloadRegistry } from './reload.ts';
import type { World } from './world.ts';
import { booting, listed, listing, memory, registry, serving, settings, T0, world } from './world-kit.ts';

const NO_KEYS = () => ({ key: 'unused', name: 'unused' });

/** A controller that has just started and sees this account. */
function fresh(entries: Parameters<typeof listing>[1], change: Partial<World> = {}): World {
  const seen = { newest: listing(T0 - 1_000, entries), previous: null };
  return world({ listing: seen, memory: { ...memory(), sweptAtMs: null }, ...change });
}

function renting(key: string): RentingPod {
  const { width, pool, configHash, bootDeadlineMs, priceUsdPerHour } = serving(key);
  const facts = { key, name: `c1-ocr-${key}`, width, pool, configHash, bootDeadlineMs, priceUsdPerHour };
  const life = {
    offer: null,
    id: null,
    url: null,
    createdAtMs: T0 - 5_000,
    shownAtMs: null,
    answered: {},
    revision: 1,
  };
  return {
    ...facts,
    ...life,
    state: 'renting',
    sinceMs: T0 - 5_000,
    answer: 'ambiguous',
    nextLookMs: T0 + 5_000,
  };
}

describe('R-035: adoption', () => {
  test('takes_every_survivor_in_one_pass_whatever_the_floor', () => {
    const entries = Array.from({ length: 29 }, (_, i) => listed({ key: `k${i}` }));
    const plan = decide(fresh(entries, { pools: [settings({ minPods: 0, maxPods: 40 })] }));
    expect(plan.adoptions).toHaveLength(29);
    expect(plan.transitions).toEqual([]);
    expect(plan.actions.filter((action) => action.kind === 'probe')).toHaveLength(29);
  });

  test('twice_changes_nothing', () => {
    const before = fresh([listed({ key: 'a' })]);
    const after = applyPlan(before, decide(before), NO_KEYS);
    expect(isEmptyPlan(decide(after))).toBe(true);
    expect(decide({ ...after, nowMs: T0 + 61_000 }).adoptions).toEqual([]);
  });

  test('sweeps_at_most_once_a_minute_but_counts_at_once', () => {
    const entry = [listed({ key: 'a' })];
    const plan = decide(fresh(entry, { memory: { ...memory(), sweptAtMs: T0 - 59_000 } }));
    expect(plan.adoptions).toEqual([]);
    expect(plan.caps.pools.get('ocr')?.existing).toBe(1);
    expect(decide(fresh(entry, { memory: { ...memory(), sweptAtMs: T0 - 60_000 } })).adoptions).toHaveLength(
      1,
    );
  });

  test('leaves_other_clusters_and_unmarked_pods_alone', () => {
    const entries = [
      listed({ key: 'a', cluster: 'c2' }),
      listed({ key: 'b', mark: null }),
      listed({ key: 'd', mark: null, name: 'mine' }),
    ];
    const plan = decide(fresh(entries));
    expect(plan.adoptions).toEqual([]);
    expect(plan.alarms).toHaveLength(1);
  });

  test('never_reads_a_stale_listing', () => {
    const old = { newest: listing(T0 - 181_000, [listed({ key: 'a' })]), previous: null };
    expect(decide(fresh([], { listing: old })).adoptions).toEqual([]);
  });

  test('drains_and_reports_a_pod_of_an_unknown_pool', () => {
    const plan = decide(fresh([listed({ key: 'a', pool: 'gone' })]));
    expect(plan.adoptions[0]?.pod).toMatchObject({ state: 'draining', why: 'unknown-pool' });
    expect(plan.alarms.join()).toContain('not configured');
  });

  test('ends_a_pod_that_was_bought_twice_under_one_key', () => {
    const twin = listed({ key: 'a', id: 'id-twin' });
    const plan = decide(fresh([listed({ key: 'a' }), twin], { registry: registry(serving('a')) }));
    expect(plan.actions).toMatchObject([{ kind: 'terminate', id: 'id-twin', why: 'duplicate' }]);
  });

  test('R-038_an_adopted_boot_is_counted_but_holds_no_rent_back', () => {
    const plan = decide(fresh([listed({ key: 'a' })], { pools: [settings({ minPods: 1, maxPods: 2 })] }));
    expect(plan.actions.map((action) => action.kind)).toEqual(['probe', 'rent']);
    const full = decide(fresh([listed({ key: 'a' })], { pools: [settings({ minPods: 1, maxPods: 1 })] }));
    expect(full.actions.map((action) => action.kind)).toEqual(['probe']);
  });

  test('an_adopted_pod_is_ended_only_after_its_grace', () => {
    const old = listed({ key: 'a', createdAtMs: T0 - 9_000_000 });
    const [adoption] = decide(fresh([old])).adoptions;
    expect(adoption?.pod).toMatchObject({ state: 'booting', deadlineMs: T0 + 180_000 });
  });
});

describe('R-034: a pod is held once', () => {
  test('re_meeting_it_refreshes_its_address_and_keeps_the_rest', () => {
    const held = serving('a');
    const entered = enterRegistry(registry(held), booting('b', { id: 'id-a', url: 'http://new:2' }), T0);
    expect(entered.isNew).toBe(false);
    expect([...entered.registry.values()]).toMatchObject([
      { key: 'a', state: 'serving', url: 'http://new:2' },
    ]);
  });

  test('a_new_address_in_the_listing_reaches_the_registry', () => {
    const moved = listed({ key: 'a', url: 'http://new:2' });
    const plan = decide(fresh([moved], { registry: registry(serving('a')) }));
    expect(plan.transitions).toMatchObject([{ durable: true, event: { kind: 'seen', url: 'http://new:2' } }]);
  });

  test('an_ambiguous_rent_is_resolved_by_key_or_name_and_not_rented_again', () => {
    const pods = registry(renting('a'), renting('b'));
    const entries = [
      listed({ key: 'a', id: 'new-1' }),
      listed({ key: 'x', id: 'new-2', name: 'c1-ocr-b', mark: null }),
    ];
    const plan = decide(fresh(entries, { registry: pods, pools: [settings({ minPods: 2 })] }));
    expect(plan.transitions.filter((t) => t.event.kind === 'created')).toMatchObject([
      { podKey: 'a', event: { id: 'new-1' } },
      { podKey: 'b', event: { id: 'new-2' } },
    ]);
    expect(plan.adoptions).toEqual([]);
    expect(plan.actions.filter((action) => action.kind === 'rent')).toEqual([]);
  });
});

describe('L8: a restart', () => {
  test('keeps_every_pod_and_takes_no_answer_of_the_earlier_life_for_granted', () => {
    const pending: RentingPod = { ...renting('a'), answer: 'pending' };
    const asked = serving('b', { asked: { purpose: 'check', askedAtMs: T0 - 1 } });
    const reloaded = reloadRegistry([pending, asked, serving('c')], T0);
    expect([...reloaded.values()]).toMatchObject([
      { key: 'a', answer: 'ambiguous' },
      { key: 'b', asked: null },
      { key: 'c' },
    ]);
  });

  test('forgets_a_rent_that_was_decided_and_never_asked_for', () => {
    const uncalled: RentingPod = { ...renting('a'), answer: 'uncalled' };
    expect([...reloadRegistry([uncalled], T0)]).toEqual([]);
    const called = transition(uncalled, { kind: 'calling' }, T0);
    expect(called).toMatchObject({ legal: true, pod: { answer: 'pending' } });
    expect(called.legal && transition(called.pod, { kind: 'calling' }, T0).legal).toBe(false);
  });
});
