/** All the time that the renting half knows: the machine's own in production, a virtual one in `sim/world`. */
export interface Clock {
  readonly nowMs: () => number;
  /** Runs `fn` once; the answer cancels it. */
  readonly setTimer: (fn: () => void, ms: number) => () => void;
}

export const realClock: Clock = {
  nowMs: Date.now,
  setTimer(fn, ms) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

export function sleepOn(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(resolve, ms));
}
