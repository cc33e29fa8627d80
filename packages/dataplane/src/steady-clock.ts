import { monotonicMs } from '@pagefleet/runtime';

/** Epoch milliseconds of a clock that never jumps: deadlines and ages must not move when the wall clock is set. */
export function createSteadyClock(): () => number {
  const offsetMs = Date.now() - monotonicMs();
  return () => offsetMs + monotonicMs();
}
