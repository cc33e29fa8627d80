import type { Clock } from './clock.ts';

const LONGEST_PAUSE_MS = 1_000;
const SHORTEST_PAUSE_MS = 10;

export interface PassLoop {
  /** something happened: the next pass comes at once, or right after the one that runs */
  request(): void;
  /** the present pass ends and no other begins */
  stop(): Promise<void>;
}

/** Runs passes one after another: at events, when the last one asked to be woken, and at least each second. */
export function startPassLoop(options: {
  /** returns when the next pass is wanted if nothing happens before */
  readonly runPass: () => Promise<{ wakeAtMs: number }>;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
  /** only a simulation, which skips the time in which nothing happens, waits longer */
  readonly longestPauseMs?: number;
}): PassLoop {
  const { clock, longestPauseMs = LONGEST_PAUSE_MS } = options;
  let cancel: (() => void) | null = null;
  let running: Promise<void> | null = null;
  let wanted = false;
  let stopped = false;

  function arm(waitMs: number): void {
    cancel?.();
    cancel = clock.setTimer(start, waitMs);
  }

  function start(): void {
    if (stopped) return;
    wanted = false;
    running = turn().then((pauseMs) => {
      running = null;
      if (!stopped) arm(wanted ? SHORTEST_PAUSE_MS : pauseMs);
    });
  }

  async function turn(): Promise<number> {
    try {
      const { wakeAtMs } = await options.runPass();
      return Math.min(Math.max(wakeAtMs - clock.nowMs(), SHORTEST_PAUSE_MS), longestPauseMs);
    } catch (error) {
      options.onFailure(error);
      return longestPauseMs;
    }
  }

  arm(0);
  return {
    request() {
      if (wanted || stopped) return;
      wanted = true;
      if (running === null) arm(SHORTEST_PAUSE_MS);
    },
    async stop() {
      stopped = true;
      cancel?.();
      await running;
    },
  };
}
