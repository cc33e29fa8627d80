import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PickablePod, pickPod } from './pick-pod.ts';

const pod = (id: string, inflight: number, rest: Partial<PickablePod> = {}): PickablePod => ({
  id,
  inflight,
  width: 4,
  mode: 'serve',
  health: 'good',
  ...rest,
});
const none: ReadonlySet<string> = new Set();
const pick = (pods: PickablePod[], exclude = none, turn = 0) => pickPod(pods, { exclude, turn });

const anyPod = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  width: fc.nat(6),
  inflight: fc.nat(6),
  mode: fc.constantFrom('serve' as const, 'serve' as const, 'drain' as const),
  health: fc.constantFrom('good' as const, 'good' as const, 'trial' as const, 'out' as const),
});
const slices = fc.uniqueArray(anyPod, { selector: (p) => p.id, maxLength: 5 });

describe('picking a pod (DESIGN 7.5)', () => {
  test('only_a_serving_pod_with_a_free_slot_that_is_not_out_is_ever_picked', () => {
    fc.assert(
      fc.property(slices, fc.subarray(['a', 'b', 'c', 'd', 'e']), fc.nat(), (pods, failed, turn) => {
        const picked = pickPod(pods, { exclude: new Set(failed), turn });
        if (picked.kind === 'wait') return;
        const chosen = pods.find((p) => p.id === picked.id);
        expect(chosen).toMatchObject({ mode: 'serve', health: picked.trial ? 'trial' : 'good' });
        expect(chosen?.inflight).toBeLessThan(chosen?.width ?? 0);
        const others = pods.filter((p) => p.mode === 'serve' && p.width > 0 && !failed.includes(p.id));
        if (others.length > 0) expect(failed).not.toContain(picked.id);
      }),
    );
  });

  test('a_page_that_has_not_failed_waits_only_when_no_pod_could_take_it', () => {
    fc.assert(
      fc.property(slices, fc.nat(), (pods, turn) => {
        const able = pods.filter((p) => p.mode === 'serve' && p.inflight < p.width && p.health !== 'out');
        expect(pickPod(pods, { exclude: none, turn }).kind).toBe(able.length > 0 ? 'pod' : 'wait');
      }),
    );
  });

  test('load_is_measured_against_the_width_and_then_in_pages', () => {
    expect(pick([pod('narrow', 1, { width: 2 }), pod('wide', 3, { width: 8 })])).toMatchObject({
      id: 'wide',
    });
    expect(pick([pod('wide', 4, { width: 8 }), pod('narrow', 1, { width: 2 })])).toMatchObject({
      id: 'narrow',
    });
  });

  test('equal_pods_take_turns', () => {
    const pods = [pod('a', 1), pod('b', 1), pod('c', 1), pod('busy', 2)];
    const picked = [0, 1, 2, 3].map((turn) => pick(pods, none, turn));
    expect(picked.map((p) => (p.kind === 'pod' ? p.id : 'wait'))).toEqual(['a', 'b', 'c', 'a']);
  });

  test('a_pod_that_failed_this_page_is_passed_over_although_it_is_idle', () => {
    expect(pick([pod('failed', 0), pod('busy', 3)], new Set(['failed']))).toMatchObject({ id: 'busy' });
    expect(pick([pod('failed', 0), pod('full', 4)], new Set(['failed']))).toEqual({ kind: 'wait' });
  });

  test('a_lone_pod_gets_the_page_that_it_failed_since_there_is_no_other', () => {
    expect(pick([pod('failed', 0)], new Set(['failed']))).toEqual({
      kind: 'pod',
      id: 'failed',
      trial: false,
    });
  });

  test('a_pod_due_for_its_trial_gets_a_page_that_has_not_failed_before (L6)', () => {
    const pods = [pod('good', 0), pod('due', 2, { health: 'trial' })];
    expect(pick(pods)).toEqual({ kind: 'pod', id: 'due', trial: true });
    expect(pick(pods, new Set(['x']))).toEqual({ kind: 'pod', id: 'good', trial: false });
    expect(pick([pod('due', 0, { health: 'trial' })], new Set(['x']))).toMatchObject({
      id: 'due',
      trial: true,
    });
  });

  test('a_pod_that_fails_every_page_at_once_gets_one_page_in_a_hundred_not_half_of_them', () => {
    let failed = 0;
    const good = [0, 0];
    let health: PickablePod['health'] = 'good';
    for (let turn = 0; turn < 100; turn += 1) {
      const pods = [
        pod('sick', 0, { health }),
        pod('a', good[0] ?? 0, { width: 64 }),
        pod('b', good[1] ?? 0, { width: 64 }),
      ];
      const picked = pick(pods, none, turn);
      if (picked.kind === 'pod' && picked.id === 'sick') {
        failed += 1;
        health = 'out';
      } else if (picked.kind === 'pod') {
        const index = picked.id === 'a' ? 0 : 1;
        good[index] = (good[index] ?? 0) + 1;
      }
    }
    expect(failed).toBe(1);
  });
});
