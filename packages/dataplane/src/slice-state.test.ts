import type { Slice } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { createSliceState } from './slice-state.ts';

const slice = (epoch: number, rev: number, bootId = 'me'): Slice => ({
  v: 1,
  bootId,
  epoch,
  rev,
  pods: [],
  pools: [],
  limits: { maxInFlight: rev, maxQueued: 0, maxMemoryBytes: 0, maxSpoolBytes: 0 },
});

describe('the slice in force (DESIGN 6)', () => {
  test('an_older_or_equal_one_and_that_of_another_worker_are_ignored', () => {
    const state = createSliceState('me');
    expect(state.accept(slice(2, 5))).toBe(true);
    for (const old of [slice(2, 5), slice(2, 4), slice(1, 9), slice(3, 1, 'other')])
      expect(state.accept(old)).toBe(false);
    expect([state.epoch, state.ack, state.limits?.maxInFlight]).toEqual([2, 5, 5]);
    expect(state.accept(slice(3, 1))).toBe(true);
    expect([state.epoch, state.ack]).toEqual([3, 1]);
  });
});
