import type { Bounds } from './lease.ts';

/** One stretch of time with its own floor or cap. The shell lays the operator's times of day out in absolute time. */
export interface ScheduleWindow {
  readonly pool: string;
  readonly fromMs: number;
  readonly untilMs: number;
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
