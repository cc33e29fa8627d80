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

const wide = (epoch: number, rev: number, width: number): Slice => ({
  ...slice(epoch, rev),
  pods: [{ id: 'p', pool: 'ocr', url: 'http://p', token: 't', width, mode: 'serve', answeredSuspect: 0 }],
});

describe('the slice in force (DESIGN 6)', () => {
  test('an_older_or_equal_one_and_that_of_another_worker_are_ignored', () => {
    const state = createSliceState('me');
    expect(state.accept(slice(2, 5))).not.toBeNull();
    for (const old of [slice(2, 5), slice(2, 4), slice(1, 9), slice(3, 1, 'other')])
      expect(state.accept(old)).toBeNull();
    expect([state.epoch, state.ack, state.limits?.maxInFlight]).toEqual([2, 5, 5]);
    expect(state.accept(slice(3, 1))).not.toBeNull();
    expect([state.epoch, state.ack]).toEqual([3, 1]);
  });

  test('the_first_of_a_later_epoch_gives_no_more_width_than_is_held_and_the_second_does', () => {
    const state = createSliceState('me', 1);
    const widths = (next: Slice) => state.accept(next)?.pods.map(({ width }) => width);
    expect(widths(wide(1, 1, 2))).toEqual([2]);
    expect(widths(wide(2, 1, 5))).toEqual([2]);
    expect(widths(wide(2, 2, 5))).toEqual([5]);
    expect(createSliceState('me').accept(wide(7, 1, 5))?.pods[0]?.width).toBe(0);
  });
});
