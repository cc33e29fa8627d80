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
function labelOf(dayNumber: number): string {
  return new Date(dayNumber * DAY_MS).toISOString().slice(0, 10);
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
