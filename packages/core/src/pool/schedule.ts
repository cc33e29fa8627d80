import { dayAt, instantOf, type OffsetAt, type Weekday, weekdayOf } from './calendar.ts';
import type { Bounds } from './lease.ts';

/** One stretch of time with its own floor or cap, in absolute time. */
export interface ScheduleWindow {
  readonly pool: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly minPods: number | null;
  readonly maxPods: number | null;
}

/** The same as the operator writes it: by the clock on the wall. */
export interface DailyWindow {
  readonly pool: string;
  /** `HH:MM` */
  readonly from: string;
  /** one not after `from` is on the next day */
  readonly to: string;
  /** on which it starts; empty = every day */
  readonly days: readonly Weekday[];
  readonly minPods: number | null;
  readonly maxPods: number | null;
}

/** Where windows overlap, the largest floor and the smallest cap count. */
export function scheduleBounds(windows: readonly ScheduleWindow[], pool: string, nowMs: number): Bounds {
  const live = windows.filter((w) => w.pool === pool && w.fromMs <= nowMs && nowMs < w.untilMs);
  return {
    floor: Math.max(0, ...live.map((w) => w.minPods ?? 0)),
    cap: Math.min(Number.POSITIVE_INFINITY, ...live.map((w) => w.maxPods ?? Number.POSITIVE_INFINITY)),
  };
}

/**
 * The windows of yesterday, today and tomorrow. A window begins and ends when the clocks of the zone first show its times,
 * so on a day when they are changed it is an hour longer or shorter, and one that lies in the hour they skip is left out.
 */
export function layOutSchedule(
  windows: readonly DailyWindow[],
  nowMs: number,
  offsetAt: OffsetAt,
): readonly ScheduleWindow[] {
  const today = dayAt(nowMs, offsetAt).number;
  return windows.flatMap(({ pool, from, to, days, minPods, maxPods }) =>
    [today - 1, today, today + 1].flatMap((day): ScheduleWindow[] => {
      if (days.length > 0 && !days.includes(weekdayOf(day))) return [];
      const [start, end] = [minuteOf(from), minuteOf(to)];
      const fromMs = instantOf(day, start, offsetAt);
      const untilMs = instantOf(end > start ? day : day + 1, end, offsetAt);
      return fromMs < untilMs ? [{ pool, fromMs, untilMs, minPods, maxPods }] : [];
    }),
  );
}

function minuteOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}
