import { describe, expect, test } from 'vitest';
import type { OffsetAt } from './calendar.ts';
import { type DailyWindow, layOutSchedule, scheduleBounds } from './schedule.ts';

const HOUR = 3_600_000;
/** Ahead by one hour, from 2026-03-29 01:00 UTC by two, from 2026-10-25 01:00 UTC by one: Berlin. */
const BERLIN: OffsetAt = (atMs) =>
  atMs >= Date.UTC(2026, 2, 29, 1) && atMs < Date.UTC(2026, 9, 25, 1) ? 2 * HOUR : HOUR;

function daily(from: string, to: string, change: Partial<DailyWindow> = {}): DailyWindow {
  return { pool: 'ocr', from, to, days: [], minPods: 4, maxPods: null, ...change };
}

function floorAt(window: DailyWindow, atMs: number): number {
  return scheduleBounds(layOutSchedule([window], atMs, BERLIN), 'ocr', atMs).floor;
}

describe('R-055: floors and caps by time of day', () => {
  test('hold_from_the_first_to_the_last_minute_of_their_window_in_the_named_zone', () => {
    const office = daily('08:00', '18:00');
    expect(floorAt(office, Date.UTC(2026, 0, 15, 7) - 1)).toBe(0);
    expect(floorAt(office, Date.UTC(2026, 0, 15, 7))).toBe(4);
    expect(floorAt(office, Date.UTC(2026, 0, 15, 17) - 1)).toBe(4);
    expect(floorAt(office, Date.UTC(2026, 0, 15, 17))).toBe(0);
    expect(floorAt(office, Date.UTC(2026, 6, 15, 6))).toBe(4);
  });

  test('reach_over_midnight_and_belong_to_the_day_on_which_they_start', () => {
    const night = daily('22:00', '06:00', { days: ['fri'] });
    // 2026-01-16 is a Friday.
    expect(floorAt(night, Date.UTC(2026, 0, 16, 22))).toBe(4);
    expect(floorAt(night, Date.UTC(2026, 0, 17, 4))).toBe(4);
    expect(floorAt(night, Date.UTC(2026, 0, 17, 22))).toBe(0);
    expect(floorAt(night, Date.UTC(2026, 0, 16, 4))).toBe(0);
  });

  test('a_window_that_ends_when_it_starts_is_the_whole_day', () => {
    const always = daily('12:00', '12:00');
    for (let hour = 0; hour < 48; hour++) expect(floorAt(always, Date.UTC(2026, 2, 28, hour))).toBe(4);
  });

  test('follow_the_clock_on_the_wall_when_it_is_changed', () => {
    // Five hours by the clock, four in fact; and seven.
    const spring = layOutSchedule([daily('00:00', '05:00')], Date.UTC(2026, 2, 29, 12), BERLIN);
    const autumn = layOutSchedule([daily('00:00', '06:00')], Date.UTC(2026, 9, 25, 12), BERLIN);
    const lengths = (windows: typeof spring) => windows.map((w) => (w.untilMs - w.fromMs) / HOUR);
    expect(lengths(spring)).toEqual([5, 4, 5]);
    expect(lengths(autumn)).toEqual([6, 7, 6]);
  });

  test('a_window_in_the_hour_that_is_skipped_is_left_out_on_that_day', () => {
    const windows = layOutSchedule([daily('02:10', '02:50')], Date.UTC(2026, 2, 29, 12), BERLIN);
    expect(windows).toHaveLength(2);
  });

  test('overlapping_windows_give_the_largest_floor_and_the_smallest_cap', () => {
    const atMs = Date.UTC(2026, 0, 15, 11);
    const windows = [
      daily('08:00', '18:00', { maxPods: 6 }),
      daily('10:00', '14:00', { minPods: 2, maxPods: 8 }),
      daily('10:00', '14:00', { pool: 'other', maxPods: 1 }),
    ];
    expect(scheduleBounds(layOutSchedule(windows, atMs, BERLIN), 'ocr', atMs)).toEqual({ floor: 4, cap: 6 });
  });
});
