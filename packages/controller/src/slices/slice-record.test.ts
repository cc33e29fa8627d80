import type { Config } from '@pagefleet/contract';
import { transition } from '@pagefleet/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bootingPod, servingPod, T0 } from '../test-kit/pods.ts';
import { isSliced, sliceFacts, slicePods, workerLimits } from './slice-record.ts';

const tokenOf = () => 'token';

describe('what a worker is told of pods (R-006, R-023)', () => {
  const pod = { ...servingPod('a'), url: 'http://127.0.0.1:1', answered: { w: 3 } };
  const told = (widths: Record<string, number>, mentioned: string[] = []) =>
    slicePods({
      bootId: 'w',
      pods: [pod],
      widths: new Map(Object.entries(widths)),
      mentioned: new Set(mentioned),
      tokenOf,
    });

  test('address_and_token_come_together_with_the_width', () => {
    expect(told({ 'id-a': 2 })).toEqual([
      {
        id: 'id-a',
        pool: 'ocr',
        url: 'http://127.0.0.1:1',
        token: 'token',
        width: 2,
        mode: 'serve',
        answeredSuspect: 3,
      },
    ]);
  });

  test('a_pod_without_width_is_named_only_to_who_still_speaks_of_it', () => {
    expect(told({})).toEqual([]);
    expect(told({}, ['id-a'])).toMatchObject([{ id: 'id-a', width: 0, mode: 'serve' }]);
  });

  test('a_drain_travels_as_a_flag_and_answers_no_suspicion', () => {
    const drain = transition(pod, { kind: 'drain', why: 'idle', deadlineMs: T0 }, T0);
    if (!drain.legal || !isSliced(drain.pod)) throw new Error('no draining pod');
    const rows = slicePods({
      bootId: 'w',
      pods: [drain.pod],
      widths: new Map(),
      mentioned: new Set(['id-a']),
      tokenOf,
    });
    expect(rows).toMatchObject([{ mode: 'drain', width: 0, answeredSuspect: 0 }]);
  });

  test('pods_that_are_not_up_are_in_no_slice', () => {
    expect(isSliced(bootingPod('b', 'http://127.0.0.1:2'))).toBe(false);
    expect(isSliced(servingPod('c'))).toBe(true);
  });

  test('a_new_width_alone_is_no_new_fact', () => {
    const limits = { maxInFlight: 1, maxQueued: 0, maxMemoryBytes: 1, maxSpoolBytes: 1 };
    const facts = (pods: ReturnType<typeof told>) => sliceFacts({ pods, pools: [], limits });
    expect(facts(told({ 'id-a': 1 }))).toBe(facts(told({ 'id-a': 2 })));
    expect(facts(told({ 'id-a': 1 }))).not.toBe(facts(told({})));
    const open = { pods: [], pools: [], limits };
    expect(sliceFacts({ ...open, closing: true })).not.toBe(sliceFacts(open));
  });
});

describe('the share of every ceiling (R-007, L11)', () => {
  test('shares_sum_to_at_least_the_total_and_to_less_than_the_total_plus_one_each (property)', () => {
    const size = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 64 }), size, size, (workers, maxInFlight, memoryBytes) => {
        const limits = { maxInFlight, maxQueued: 0, memoryBytes, spoolBytes: 7 };
        const share = workerLimits({ workers, limits } as unknown as Config);
        const count = Math.max(1, workers);
        const pairs = [
          [share.maxInFlight, maxInFlight],
          [share.maxMemoryBytes, memoryBytes],
          [share.maxSpoolBytes, 7],
        ] as const;
        return pairs.every(([part, total]) => part * count >= total && part * count < total + count);
      }),
    );
  });
});
