import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Day, dayAt, instantOf, labelOf, type OffsetAt, weekdayOf } from './calendar.ts';

const HOUR = 3_600_000;
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  // Clocks change at midnight, by half an hour, far from UTC, and against the sun.
  'Africa/Cairo',
  'Asia/Beirut',
  'America/Havana',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'Africa/Casablanca',
];

/** What the shell does, by the tz database. */
function zone(name: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: name, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (atMs) => {
    const parts = Object.fromEntries(
      format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1_000) * 1_000;
  };
}

/** Around the days on which clocks are changed, and any other. */
const anyInstant = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 2, 5), max: Date.UTC(2026, 3, 30) }),
  fc.integer({ min: Date.UTC(2026, 9, 1), max: Date.UTC(2026, 10, 10) }),
  fc.integer({ min: Date.UTC(2011, 11, 28), max: Date.UTC(2030, 0, 1) }),
);

function hours({ fromMs, untilMs }: Day): number {
  return (untilMs - fromMs) / HOUR;
}

describe('R-051: the day that is billed', () => {
  test.each(ZONES)('in %s every instant belongs to one day, and days touch', (name) => {
    const offsetAt = zone(name);
    fc.assert(
      fc.property(anyInstant, (atMs) => {
        const day = dayAt(atMs, offsetAt);
        expect(day.fromMs).toBeLessThanOrEqual(atMs);
        expect(day.untilMs).toBeGreaterThan(atMs);
        expect(dayAt(day.fromMs, offsetAt)).toEqual(day);
        expect(dayAt(day.untilMs - 1, offsetAt)).toEqual(day);
        expect(dayAt(day.untilMs, offsetAt).fromMs).toBe(day.untilMs);
        expect(hours(day)).toBeGreaterThanOrEqual(22.5);
        expect(hours(day)).toBeLessThanOrEqual(25.5);
      }),
      { numRuns: 60 },
    );
  });

  test('has_23_and_25_hours_when_the_clocks_are_changed', () => {
    const berlin = zone('Europe/Berlin');
    expect(hours(dayAt(Date.UTC(2026, 2, 29, 12), berlin))).toBe(23);
    expect(hours(dayAt(Date.UTC(2026, 9, 25, 12), berlin))).toBe(25);
    expect(dayAt(Date.UTC(2026, 2, 28, 23), berlin).label).toBe('2026-03-29');
    expect(dayAt(Date.UTC(2026, 2, 28, 23) - 1, berlin).label).toBe('2026-03-28');
  });

  test('begins_with_the_first_minute_that_is_shown_where_midnight_is_skipped', () => {
    // Cairo: 2026-04-24 00:00 becomes 01:00, at 22:00 UTC the day before.
    const day = dayAt(Date.UTC(2026, 3, 24, 12), zone('Africa/Cairo'));
    expect(day.label).toBe('2026-04-24');
    expect(day.fromMs).toBe(Date.UTC(2026, 3, 23, 22));
  });

  test('a_date_that_a_zone_left_out_has_no_instant', () => {
    // Samoa went from the 29th to the 31st of December 2011.
    const apia = zone('Pacific/Apia');
    const before = dayAt(Date.UTC(2011, 11, 30, 9, 59), apia);
    expect(before.label).toBe('2011-12-29');
    expect(dayAt(before.untilMs, apia).label).toBe('2011-12-31');
  });

  test('dates_are_those_of_the_calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000, max: 200_000 }), (number) => {
        expect(labelOf(number)).toBe(new Date(number * 24 * HOUR).toISOString().slice(0, 10));
      }),
      { numRuns: 2_000 },
    );
  });

  test('weekdays_are_those_of_the_calendar', () => {
    const number = dayAt(Date.UTC(2026, 2, 29, 12), zone('UTC')).number;
    expect(weekdayOf(number)).toBe('sun');
    expect(weekdayOf(-1)).toBe('wed');
  });
});

describe('R-055: a time of day', () => {
  test.each(ZONES)('in %s is the first instant that shows it, or a later one', (name) => {
    const offsetAt = zone(name);
    const anyTime = fc.tuple(anyInstant, fc.integer({ min: 0, max: 1_439 }));
    fc.assert(
      fc.property(anyTime, ([atMs, minute]) => {
        const { number } = dayAt(atMs, offsetAt);
        const shownMs = number * 24 * HOUR + minute * 60_000;
        const instant = instantOf(number, minute, offsetAt);
        const shows = (ms: number) => ms + offsetAt(ms);
        expect(shows(instant)).toBeGreaterThanOrEqual(shownMs);
        for (const earlierMs of [1, 60_000, 1_800_000, HOUR, 2 * HOUR])
          expect(shows(instant - earlierMs)).toBeLessThan(shownMs);
      }),
      { numRuns: 60 },
    );
  });

  test('that_is_shown_twice_is_the_first_and_one_that_is_skipped_the_end_of_the_gap', () => {
    const berlin = zone('Europe/Berlin');
    const autumn = dayAt(Date.UTC(2026, 9, 25, 12), berlin).number;
    expect(instantOf(autumn, 150, berlin)).toBe(Date.UTC(2026, 9, 25, 0, 30));
    const spring = dayAt(Date.UTC(2026, 2, 29, 12), berlin).number;
    expect(instantOf(spring, 150, berlin)).toBe(Date.UTC(2026, 2, 29, 1));
  });
});
