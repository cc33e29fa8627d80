import { monotonicMs } from '@pagefleet/runtime';

/**
 * Epoch milliseconds, whole ones as reports carry them, of a clock that never jumps: deadlines and ages must not move when
 * the wall clock is set.
 */
export function createSteadyClock(): () => number {
  const offsetMs = Date.now() - monotonicMs();
  return () => Math.round(offsetMs + monotonicMs());
}
