import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineState, PagefleetError, type PageResult } from '@pagefleet/contract';
import type { Engine, ModelAnswer, ModelRequest, PageInput } from '@pagefleet/engines';
import { type Logger, monotonicMs } from '@pagefleet/runtime';
import {
  type DecideKeeping,
  decideKeeping,
  FIRST_START,
  type KeeperAct,
  type KeeperEvent,
  type Keeping,
} from './keeper-state.ts';

export interface EngineKeeperOptions {
  readonly create: () => Engine;
  readonly logger: Logger;
  /** rejects when the signal is raised */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly nowMs?: () => number;
  readonly decide?: DecideKeeping;
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
  /**
   * What condemns the engine that reads now, and no later one: it did not end a reading it was told to end, so it is dead,
   * whatever it says.
   */
  condemner(): () => void;
  /** Resolves when nothing is left of the engine, however long that takes. */
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 500;
const NEVER = new AbortController().signal;

/** Starts the engine at once, without holding up anybody. What comes next is decided by `decideKeeping`. */
export function createEngineKeeper(options: EngineKeeperOptions): EngineKeeper {
  const { create, logger, pause = realPause, nowMs = monotonicMs, decide = decideKeeping } = options;
  const closing = new AbortController();
  const over = Promise.withResolvers<void>();
  let keeping: Keeping = FIRST_START;
  let engine = create();
  let started = startOf(engine);

  function take(event: KeeperEvent): void {
    const { state: next, act } = decide(keeping, event);
    keeping = next;
    if (next.at === 'over') over.resolve();
    if (act !== null) perform(act);
  }

  function perform(act: KeeperAct): void {
    switch (act.kind) {
      case 'start':
        engine = create();
        started = startOf(engine);
        return;
      case 'close':
        void closeEngine();
        return;
      case 'rest':
        void rest(act.ms).then(() => take({ kind: 'rested' }));
    }
  }

  function startOf(next: Engine): Promise<void> {
    const starting = next.start();
    starting.then(
      () => {
        if (engine !== next || keeping.at !== 'starting') return;
        logger.info({ engine: next.name, version: next.version }, 'engine_ready');
        take({ kind: 'started', atMs: nowMs() });
        void watch(next);
      },
      // Readers of a page see the failure; without one it is still no unhandled rejection.
      (err: unknown) => {
        if (engine !== next || keeping.at !== 'starting') return;
        logger.error({ err }, 'engine_start_failed');
        take({ kind: 'start_failed', lasting: faultOfSettings(err), said: faultOfStart(err) });
      },
    );
    return starting;
  }

  async function watch(served: Engine): Promise<void> {
    const serves = (): boolean => engine === served && keeping.at === 'serving';
    while (serves() && served.state() !== 'dead') await rest(LOOK_EVERY_MS);
    if (!serves()) return;
    logger.error({ condemned: false }, 'engine_dead');
    take({ kind: 'died', atMs: nowMs() });
  }

  async function closeEngine(): Promise<void> {
    const failed = await engine.close().then(
      () => false,
      (err: unknown) => {
        logger.error({ err }, 'engine_not_closed');
        return true;
      },
    );
    take({ kind: failed ? 'close_failed' : 'closed' });
  }

  async function rest(ms: number): Promise<void> {
    await pause(ms, keeping.isStopping ? NEVER : closing.signal).catch(() => undefined);
  }

  function state(): EngineState {
    return keeping.at === 'starting' || keeping.at === 'serving' ? engine.state() : 'dead';
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
    fault: () => keeping.fault,
    ready,
    read: (page) => engine.read(page),
    async forward(request) {
      if (engine.forward) return await engine.forward(request);
      throw new PagefleetError('not_found', `the engine ${engine.name} has no model server`);
    },
    condemner() {
      const reads = engine;
      return () => {
        if (engine !== reads || keeping.at !== 'serving') return;
        logger.error({ condemned: true }, 'engine_dead');
        take({ kind: 'condemned', atMs: nowMs() });
      };
    },
    close() {
      take({ kind: 'stop' });
      closing.abort(new PagefleetError('stopping', 'the pod is stopping'));
      return over.promise;
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
  return sleep(ms, undefined, { signal, ref: false });
}
