import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  /** of the time since it was last asked for by the reporter */
  p99Ms(): number;
  reset(): void;
  stop(): void;
}

const RESOLUTION_MS = 20;

export function createLoopDelay(): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    p99Ms: () => Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS),
    reset: () => histogram.reset(),
    stop: () => histogram.disable(),
  };
}
