import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineState, PagefleetError, type PageResult } from '@pagefleet/contract';
import type { Engine, ModelAnswer, ModelRequest, PageInput } from '@pagefleet/engines';
import type { Logger } from '@pagefleet/runtime';

export interface EngineKeeperOptions {
  readonly create: () => Engine;
  readonly logger: Logger;
  /** rejects when the signal is raised */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** One engine for the life of the pod, started again when it dies (R-040, law L16). */
export interface EngineKeeper {
  name(): string;
  version(): string;
  /** Never blocks and starts nothing. */
  state(): EngineState;
  /**
   * Why the engine cannot start as the pod is set up: starting it again does not help, other settings do. Also what the last
   * of several starts in a row that failed said; null once one succeeds.
   */
  fault(): string | null;
  /** Resolves when a page can be read; waits while the engine starts. `engine_not_ready` when it is dead. */
  ready(signal: AbortSignal): Promise<void>;
  read(page: PageInput): Promise<PageResult>;
  /** Passes a request on to the engine's model server; `not_found` where it has none. */
  forward(request: ModelRequest): Promise<ModelAnswer>;
  /** The engine did not end a reading it was told to end: it is dead, whatever it says. */
  condemn(): void;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 500;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** One start may fail for a reason that passes: a hub that does not answer, a port that was just taken. */
const FAULT_AFTER_STARTS = 3;

/** Starts the engine at once, without holding up anybody. */
export function createEngineKeeper({ create, logger, pause = realPause }: EngineKeeperOptions): EngineKeeper {
  const closing = new AbortController();
  let engine = create();
  let started = startOf(engine);
  let condemned = false;
  let fault: string | null = null;
  let failedStarts = 0;
  const kept = keep();

  function startOf(next: Engine): Promise<void> {
    const starting = next.start();
    // Readers of a page see the failure; without one it is still no unhandled rejection.
    starting.catch(() => undefined);
    return starting;
  }

  /** One turn per life of an engine; the next one is made only when the last one was closed. */
  async function keep(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      const stood = await live();
      condemned = true;
      await closeEngine();
      pauseMs = stood ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      await pauseUnlessClosing(pauseMs);
      if (closing.signal.aborted) return;
      engine = create();
      started = startOf(engine);
      condemned = false;
    }
  }

  /** Resolves when the engine is dead or the pod is closing; says whether the engine ever was ready. */
  async function live(): Promise<boolean> {
    try {
      await untilAborted(started, closing.signal);
      await started;
    } catch (err) {
      failedStarts += 1;
      fault = faultOfSettings(err) ?? (failedStarts < FAULT_AFTER_STARTS ? null : faultOfStart(err));
      if (!closing.signal.aborted) logger.error({ err }, 'engine_start_failed');
      return false;
    }
    fault = null;
    failedStarts = 0;
    logger.info({ engine: engine.name, version: engine.version }, 'engine_ready');
    while (!closing.signal.aborted && state() !== 'dead') await pauseUnlessClosing(LOOK_EVERY_MS);
    if (!closing.signal.aborted) logger.error({ condemned }, 'engine_dead');
    return true;
  }

  /** Until it works: two engines side by side are worse than none. */
  async function closeEngine(): Promise<void> {
    for (;;) {
      try {
        return await engine.close();
      } catch (err) {
        logger.error({ err }, 'engine_not_closed');
        if (closing.signal.aborted) return;
        await pauseUnlessClosing(FIRST_PAUSE_MS);
      }
    }
  }

  async function pauseUnlessClosing(ms: number): Promise<void> {
    if (!closing.signal.aborted) await pause(ms, closing.signal).catch(() => undefined);
  }

  function state(): EngineState {
    return condemned ? 'dead' : engine.state();
  }

  async function ready(signal: AbortSignal): Promise<void> {
    if (state() === 'starting') await untilAborted(started, signal);
    if (state() === 'dead') {
      throw new PagefleetError('engine_not_ready', 'the engine is dead and will be started again');
    }
  }

  return {
    name: () => engine.name,
    version: () => engine.version,
    state,
    fault: () => fault,
    ready,
    read: (page) => engine.read(page),
    async forward(request) {
      if (engine.forward) return await engine.forward(request);
      throw new PagefleetError('not_found', `the engine ${engine.name} has no model server`);
    },
    condemn: () => {
      condemned = true;
    },
    close() {
      closing.abort(new PagefleetError('stopping', 'the pod is stopping'));
      return kept;
    },
  };
}

function faultOfSettings(error: unknown): string | null {
  return error instanceof PagefleetError && error.code === 'config_invalid' ? error.message : null;
}

/** Of other failures than our own nobody knows whether their words are fit for health, which everybody may read. */
function faultOfStart(error: unknown): string | null {
  return error instanceof PagefleetError ? error.message : null;
}

/** A start that failed is told by the state; here only its end matters. */
async function untilAborted(started: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const go = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    started.then(go, go);
  });
}

function realPause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal });
}
