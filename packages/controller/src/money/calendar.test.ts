import { describe, expect, test } from 'vitest';
import { createCalendar } from './calendar.ts';

const HOUR = 3_600_000;

function calendar(timeZone: string, schedule: object[] = []) {
  const config = { money: { timeZone }, pools: [{ name: 'ocr', schedule }] };
  return createCalendar(config as unknown as Parameters<typeof createCalendar>[0]);
}

describe('R-051, R-055: the operator’s days', () => {
  test('are_those_of_the_named_zone_by_the_tz_database', () => {
    const { dayAt } = calendar('America/New_York');
    expect(dayAt(Date.UTC(2026, 0, 5, 4)).label).toBe('2026-01-04');
    // 2026-03-08 has 23 hours there, 2026-11-01 has 25.
    const lengths = [dayAt(Date.UTC(2026, 2, 8, 12)), dayAt(Date.UTC(2026, 10, 1, 12))].map(
      (day) => (day.untilMs - day.fromMs) / HOUR,
    );
    expect(lengths).toEqual([23, 25]);
    expect(dayAt(Date.UTC(2026, 2, 8, 12))).toBe(dayAt(Date.UTC(2026, 2, 8, 13)));
  });

  test('lay_the_schedule_out_anew_each_day', () => {
    const window = { from: '08:00', to: '18:00', days: ['mon'], minPods: 3, maxPods: -1 };
    const { schedule } = calendar('Europe/Berlin', [window]);
    // 2026-03-30 is a Monday, the day after the clocks were put forward.
    const laidOut = { pool: 'ocr', fromMs: Date.UTC(2026, 2, 30, 6), untilMs: Date.UTC(2026, 2, 30, 16) };
    expect(schedule(Date.UTC(2026, 2, 30, 12))).toEqual([{ ...laidOut, minPods: 3, maxPods: null }]);
    expect(schedule(Date.UTC(2026, 3, 2, 12))).toEqual([]);
    expect(schedule(Date.UTC(2026, 3, 6, 12))).toHaveLength(1);
  });
});
