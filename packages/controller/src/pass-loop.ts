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
  readonly nowMs: () => number;
  readonly onFailure: (error: unknown) => void;
}): PassLoop {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let wanted = false;
  let stopped = false;

  function arm(waitMs: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(start, waitMs);
  }

  function start(): void {
    if (stopped) return;
    wanted = false;
    running = turn().finally(() => {
      running = null;
    });
  }

  async function turn(): Promise<void> {
    let pauseMs = LONGEST_PAUSE_MS;
    try {
      const { wakeAtMs } = await options.runPass();
      pauseMs = Math.min(Math.max(wakeAtMs - options.nowMs(), SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
    } catch (error) {
      options.onFailure(error);
    }
    if (!stopped) setImmediate(() => arm(wanted ? SHORTEST_PAUSE_MS : pauseMs));
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
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}
