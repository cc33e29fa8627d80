/** Milliseconds of a clock that never jumps, for measuring how long something took. */
export function monotonicMs(): number {
  return performance.now();
}
