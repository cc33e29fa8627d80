import { describe, expect, test } from 'vitest';
import { PodRegistry } from './pod-registry.ts';
import { bootingPod, held, keyOf, rentingPod, servingPod, T0 } from './test-kit/pods.ts';

describe('the registry (R-034)', () => {
  test('a_pod_is_held_once_and_meeting_it_again_refreshes_its_address', () => {
    const registry = new PodRegistry();
    expect(registry.enter(held(bootingPod('a')), T0).isNew).toBe(true);
    const again = registry.enter(held(bootingPod('a', 'http://127.0.0.1:9')), T0);
    expect(again.isNew).toBe(false);
    expect([...registry.pods.values()]).toMatchObject([{ id: 'id-a', url: 'http://127.0.0.1:9' }]);
  });

  test('one_provider_id_under_another_key_is_not_taken_in', () => {
    const registry = new PodRegistry();
    registry.enter(held(bootingPod('a')), T0);
    const impostor = { ...bootingPod('b'), id: 'id-a' };
    expect(registry.enter(held(impostor), T0).isNew).toBe(false);
    expect(registry.pods.size).toBe(1);
  });

  test('a_change_decided_on_another_revision_is_refused', () => {
    const registry = new PodRegistry();
    const pod = servingPod('a');
    registry.enter(held(pod), T0);
    const event = { kind: 'end', why: 'idle' } as const;
    expect(registry.change(pod.key, pod.revision - 1, { event, nowMs: T0 })).toEqual({ kind: 'moved' });
    expect(registry.change(pod.key, pod.revision, { event, nowMs: T0 })).toMatchObject({
      kind: 'changed',
      pod: { state: 'terminating' },
    });
  });

  test('an_impossible_change_is_an_answer_and_changes_nothing', () => {
    const registry = new PodRegistry();
    registry.enter(held(servingPod('a')), T0);
    const outcome = registry.change(keyOf('a'), null, {
      event: { kind: 'create-refused', fault: 'account' },
      nowMs: T0,
    });
    expect(outcome).toEqual({ kind: 'illegal', from: 'serving', event: 'create-refused' });
    expect(registry.get(keyOf('a'))?.state).toBe('serving');
  });

  test('only_a_terminated_pod_is_forgotten', () => {
    const registry = new PodRegistry();
    registry.enter(held(servingPod('a')), T0);
    registry.forget(keyOf('a'));
    expect(registry.pods.size).toBe(1);
    registry.change(keyOf('a'), null, { event: { kind: 'gone', why: 'gone' }, nowMs: T0 });
    registry.forget(keyOf('a'));
    expect(registry.pods.size).toBe(0);
  });

  test('after_a_restart_a_paid_call_that_was_out_is_ambiguous_never_repeated', () => {
    const registry = new PodRegistry();
    const called = { ...rentingPod('a'), answer: 'pending' } as const;
    registry.restore([held(called), held(servingPod('b'))], T0 + 1_000);
    expect(registry.get(keyOf('a'))).toMatchObject({ state: 'renting', answer: 'ambiguous' });
    expect(registry.get(keyOf('b'))).toMatchObject({ state: 'serving', asked: null });
    expect(registry.keyRef(keyOf('a')).keyId).toBe('k1');
  });
});
