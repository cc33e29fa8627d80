import { describe, expect, test } from 'vitest';
import { adoptSlice } from './adopt-slice.ts';

const slice = (epoch: number, rev: number, widths: Record<string, number>) => ({
  epoch,
  rev,
  pods: Object.entries(widths).map(([id, width]) => ({ id, width, token: `token of ${id}` })),
});

describe('slices as a worker takes them (DESIGN 6)', () => {
  const held = slice(3, 7, { a: 2, b: 4 });

  test('a_slice_that_is_not_newer_by_epoch_and_rev_is_ignored', () => {
    for (const [epoch, rev] of [
      [3, 7],
      [3, 6],
      [2, 9],
    ] as const) {
      expect(adoptSlice(held, slice(epoch, rev, { a: 4 }))).toBeUndefined();
    }
  });

  test('a_newer_slice_of_the_same_epoch_is_taken_as_it_is', () => {
    const newer = slice(3, 8, { a: 4, c: 1 });
    expect(adoptSlice(held, newer)).toBe(newer);
  });

  test('the_first_slice_of_an_epoch_never_makes_a_width_grow_and_keeps_everything_else', () => {
    expect(adoptSlice(held, slice(4, 1, { a: 4, b: 1, c: 3 }))).toEqual(slice(4, 1, { a: 2, b: 1, c: 0 }));
  });
});
