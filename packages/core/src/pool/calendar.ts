const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** No clock on earth is farther from UTC, either way, and none changes twice within this time. */
const FARTHEST_MS = 15 * 3_600_000;

/** How far a zone's clocks are ahead of UTC at an instant. The tz database belongs to the shell. */
export type OffsetAt = (atMs: number) => number;

/** A day of a zone: from its first instant to the first of the next. Days follow each other without gap or overlap. */
export interface Day {
  /** `2026-03-29` */
  readonly label: string;
  /** counted from 1970-01-01 */
  readonly number: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export type Weekday = 'sun' | 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat';

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const satisfies readonly Weekday[];

/** The day that an instant belongs to. */
export function dayAt(atMs: number, offsetAt: OffsetAt): Day {
  let number = Math.floor((atMs + offsetAt(atMs)) / DAY_MS);
  // Where clocks are put back over midnight the old day is shown again, but the new one has begun.
  while (instantOf(number + 1, 0, offsetAt) <= atMs) number += 1;
  const fromMs = instantOf(number, 0, offsetAt);
  return { label: labelOf(number), number, fromMs, untilMs: instantOf(number + 1, 0, offsetAt) };
}

/**
 * The first instant at which the clocks of a zone show that minute of that day, or a later one where they skip it. Of a
 * minute that is shown twice, the first.
 */
export function instantOf(dayNumber: number, minuteOfDay: number, offsetAt: OffsetAt): number {
  const shownMs = dayNumber * DAY_MS + minuteOfDay * MINUTE_MS;
  const [fromMs, untilMs] = [shownMs - FARTHEST_MS, shownMs + FARTHEST_MS];
  const [before, after] = [offsetAt(fromMs), offsetAt(untilMs)];
  if (before === after) return shownMs - before;
  const changeMs = firstChange(fromMs, untilMs, offsetAt);
  return shownMs - before < changeMs ? shownMs - before : Math.max(changeMs, shownMs - after);
}

export function weekdayOf(dayNumber: number): Weekday {
  // 1970-01-01 was a Thursday.
  return WEEKDAYS[(((dayNumber + 4) % 7) + 7) % 7] ?? 'sun';
}

/** `2026-03-29` of a number of days since 1970-01-01. */
export function labelOf(dayNumber: number): string {
  // In years that begin in March the leap day is the last, and 400 of them always have 146,097 days.
  const shifted = dayNumber + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return [pad(year, 4), pad(month, 2), pad(day, 2)].join('-');
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

function firstChange(fromMs: number, untilMs: number, offsetAt: OffsetAt): number {
  const before = offsetAt(fromMs);
  let [low, high] = [fromMs, untilMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}
