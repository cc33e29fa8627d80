import { expect, test } from 'vitest';
import { createSteadyClock } from './steady-clock.ts';

test('times_are_whole_milliseconds_near_the_wall_clock_because_a_report_with_a_fraction_is_dropped', () => {
  const nowMs = createSteadyClock();
  const readings = Array.from({ length: 50 }, nowMs);
  expect(readings.every(Number.isInteger)).toBe(true);
  expect(Math.abs((readings[0] ?? 0) - Date.now())).toBeLessThan(1_000);
});
