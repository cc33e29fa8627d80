import { createRateWindow, type RateWindow } from '../rate-window.ts';

/** What this incarnation has finished on one pod; it outlives the pod's stay in the slice. */
export interface PodStats {
  used: number;
  good: number;
  lastGoodMs: number;
  readonly rate: RateWindow;
}

export function createPodStats(nowMs: number): PodStats {
  return { used: 0, good: 0, lastGoodMs: 0, rate: createRateWindow(nowMs) };
}
