import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { FakeRunpod } from '@pagefleet/sim/fake-runpod';

interface Timer {
  readonly atMs: number;
  readonly n: number;
  readonly run: () => void;
}

/** What one life of a controller knows of time; a life that was killed is woken no more. */
export interface LifeClock {
  readonly nowMs: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  kill(): void;
}

/**
 * The one time of controller and cloud: the fake's, which stands still. It jumps from one timer to the next, and only while
 * nothing is in flight, so that no real millisecond of a call is ever counted.
 */
export class StepClock {
  /** after every jump, when all that followed from it has happened */
  onStep: () => void = () => undefined;
  readonly #fake: FakeRunpod;
  readonly #timers = new Set<Timer>();
  #inFlight = 0;
  #tellAllBack: () => void = () => undefined;
  #n = 0;

  constructor(fake: FakeRunpod) {
    this.#fake = fake;
  }

  nowMs(): number {
    return this.#fake.nowMs();
  }

  lifeClock(): LifeClock {
    const own = new Set<Timer>();
    return {
      nowMs: () => this.nowMs(),
      setTimer: (run, ms) => {
        this.#n += 1;
        const timer: Timer = { atMs: Math.ceil(this.nowMs() + Math.max(0, ms)), n: this.#n, run };
        own.add(timer);
        this.#timers.add(timer);
        return () => void this.#timers.delete(timer);
      },
      kill: () => {
        for (const timer of own) this.#timers.delete(timer);
      },
    };
  }

  /** A call that leaves this process: time stands still until it is back. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    try {
      return await call();
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#tellAllBack();
    }
  }

  /** Calls are back, and what was waiting for them has gone on: whatever else is awaited is awaited of memory. */
  async settle(): Promise<void> {
    await turnOfTheLoop();
    while (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#tellAllBack = resolve;
      });
      await turnOfTheLoop();
    }
  }

  async advance(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }

  /** Steps until it holds; false: it did not within that time. */
  async until(holds: () => boolean, withinMs: number): Promise<boolean> {
    const endMs = this.nowMs() + withinMs;
    await this.settle();
    while (!holds()) {
      const timer = this.#next(endMs);
      const toMs = timer?.atMs ?? endMs;
      if (toMs > this.nowMs()) await this.#fake.advance(toMs - this.nowMs());
      if (timer === null) return false;
      this.#timers.delete(timer);
      timer.run();
      await this.settle();
      this.onStep();
    }
    return true;
  }

  #next(endMs: number): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers) {
      const isEarlier =
        first === null || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.n < first.n);
      if (isEarlier) first = timer;
    }
    return first !== null && first.atMs <= endMs ? first : null;
  }
}
