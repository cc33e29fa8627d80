import type { Config } from '@pagefleet/contract';
import {
  type DailyWindow,
  type Day,
  dayAt,
  layOutSchedule,
  type OffsetAt,
  type ScheduleWindow,
  type Weekday,
} from '@pagefleet/core';

/** The operator's days, and the schedules of the pools laid out in them. */
export interface Calendar {
  dayAt(atMs: number): Day;
  schedule(nowMs: number): readonly ScheduleWindow[];
}

/** No zone has ever changed its clocks but on a quarter of an hour. */
const QUARTER_MS = 900_000;
const DAYS_KEPT = 40;

export function createCalendar(config: Pick<Config, 'money' | 'pools'>): Calendar {
  const offsetAt = offsetsOf(config.money.timeZone);
  const windows = config.pools.flatMap((pool) => pool.schedule.map((one) => dailyWindow(pool.name, one)));
  const days: Day[] = [];
  let laidOut: { readonly day: Day; readonly windows: readonly ScheduleWindow[] } | null = null;

  function find(atMs: number): Day {
    const known = days.find((day) => day.fromMs <= atMs && atMs < day.untilMs);
    if (known !== undefined) return known;
    const day = dayAt(atMs, offsetAt);
    days.unshift(day);
    days.length = Math.min(days.length, DAYS_KEPT);
    return day;
  }

  return {
    dayAt: find,
    schedule(nowMs) {
      if (windows.length === 0) return [];
      const day = find(nowMs);
      if (laidOut?.day.number !== day.number)
        laidOut = { day, windows: layOutSchedule(windows, nowMs, offsetAt) };
      return laidOut.windows;
    },
  };
}

/** Days in UTC, no schedule. */
export const UTC_CALENDAR: Calendar = {
  dayAt: (atMs) => dayAt(atMs, () => 0),
  schedule: () => [],
};

function dailyWindow(pool: string, window: Config['pools'][number]['schedule'][number]): DailyWindow {
  const { from, to, days, minPods, maxPods: cap } = window;
  return {
    ...{ pool, from, to, days: days as readonly Weekday[] },
    minPods: minPods > 0 ? minPods : null,
    maxPods: cap >= 0 ? cap : null,
  };
}

/** What the tz database that came with Node says. */
function offsetsOf(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (atMs) => {
    const quarterMs = Math.floor(atMs / QUARTER_MS) * QUARTER_MS;
    const part = new Map(format.formatToParts(quarterMs).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes) => part.get(type) ?? 0;
    const shownMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
    return shownMs - quarterMs;
  };
}
