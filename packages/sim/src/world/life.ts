import type { VirtualClock } from './virtual-clock.ts';

/** `before`: the call never leaves the process. `after`: it takes effect outside and its answer never comes. */
export type CrashPhase = 'before' | 'after';

/** What a process does outside of itself, by name; a crash may be armed at each of them. */
export type CallName = 'read' | 'write' | 'sync' | 'rename' | 'kv' | 'list' | 'rent' | 'terminate' | 'probe';

export interface CallTimes {
  readonly sendMs: number;
  readonly backMs: number;
  /** it leaves the process now, and nothing calls it back */
  readonly onSent?: () => void;
}

export interface LifeOptions {
  readonly id: string;
  readonly clock: VirtualClock;
  /** what this process takes for the time */
  readonly wallMs: () => number;
  /** asked at every call: whether the process is killed there */
  readonly isCrashAt: (name: CallName, phase: CrashPhase) => boolean;
  readonly onKilled: () => void;
}

/**
 * One life of one process. All that it awaits goes through here, so it can be killed, or stopped, at every await: whatever a
 * dead process still runs reaches nothing, and what it had sent is on its way all the same.
 */
export class Life {
  readonly id: string;
  readonly clock: {
    readonly nowMs: () => number;
    readonly setTimer: (fn: () => void, ms: number) => () => void;
  };
  readonly #options: LifeOptions;
  /** rejected at the death, so that nothing of the dead process hangs in memory */
  readonly #waiting = new Set<(cause: Error) => void>();
  #isAlive = true;
  #frozen: (() => void)[] | null = null;

  constructor(options: LifeOptions) {
    this.id = options.id;
    this.#options = options;
    this.clock = {
      nowMs: options.wallMs,
      setTimer: (fn, ms) =>
        this.#isAlive ? options.clock.later(ms, () => this.#deliver(fn)) : () => undefined,
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isRunning(): boolean {
    return this.#isAlive && this.#frozen === null;
  }

  /** kill -9 */
  kill(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    for (const reject of this.#waiting) reject(new Error('this process was killed'));
    this.#waiting.clear();
    this.#options.onKilled();
  }

  suspend(): void {
    this.#frozen ??= [];
  }

  /** What came in meanwhile comes in now. */
  resume(): void {
    const frozen = this.#frozen ?? [];
    this.#frozen = null;
    for (const run of frozen) this.#options.clock.later(0, () => this.#deliver(run));
  }

  /** A call that takes effect outside after `sendMs` and is answered `backMs` later. */
  call<T>(name: CallName, effect: () => T, times: CallTimes): Promise<T> {
    const refused = this.#refusal(name);
    if (refused !== null) return refused;
    const { sendMs, backMs, onSent } = times;
    onSent?.();
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      clock.later(sendMs, () => {
        const settle = outcomeOf(effect, resolve, reject);
        if (this.#isAlive && this.#options.isCrashAt(name, 'after')) this.kill();
        clock.later(backMs, () =>
          this.#deliver(() => {
            this.#waiting.delete(reject);
            settle();
          }),
        );
      });
    });
  }

  /** A call so short that nothing else happens meanwhile; a crash still may. */
  touch<T>(name: CallName, effect: () => T): Promise<T> {
    const refused = this.#refusal(name);
    if (refused !== null) return refused;
    try {
      const value = effect();
      if (this.#options.isCrashAt(name, 'after')) this.kill();
      return this.#isAlive ? Promise.resolve(value) : Promise.reject(new Error('this process was killed'));
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  /** Something from outside that nobody awaits. */
  tell(fn: () => void, ms: number): void {
    this.#options.clock.later(ms, () => this.#deliver(fn));
  }

  #refusal(name: CallName): Promise<never> | null {
    if (this.#isAlive && this.#options.isCrashAt(name, 'before')) this.kill();
    return this.#isAlive ? null : Promise.reject(new Error('this process was killed'));
  }

  #deliver(fn: () => void): void {
    if (!this.#isAlive) return;
    if (this.#frozen !== null) this.#frozen.push(fn);
    else fn();
  }
}

function outcomeOf<T>(
  effect: () => T,
  resolve: (value: T) => void,
  reject: (cause: unknown) => void,
): () => void {
  try {
    const value = effect();
    return () => resolve(value);
  } catch (cause) {
    return () => reject(cause);
  }
}
