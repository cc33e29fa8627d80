import { describe, expect, test } from 'vitest';
import { createRateWindow } from './rate-window.ts';

describe('pages per second over the last minute', () => {
  test('is_finished_divided_by_the_time_there_was', () => {
    const rate = createRateWindow(1_000);
    expect(rate.perSecond(1_000)).toBe(0);
    for (let n = 0; n < 10; n += 1) rate.add(2_000);
    expect(rate.perSecond(6_000)).toBe(2);
  });

  test('forgets_what_is_older_than_a_minute', () => {
    const rate = createRateWindow(0);
    for (let s = 0; s < 120; s += 1) rate.add(s * 1_000);
    expect(rate.perSecond(119_999)).toBe(1);
    expect(rate.perSecond(150_000)).toBeCloseTo(29 / 60, 1);
    expect(rate.perSecond(10_000_000)).toBe(0);
  });
});
