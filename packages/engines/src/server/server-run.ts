import { type EngineState, PagefleetError } from '@pagefleet/contract';
import type { ServerEngineHooks } from '../port.ts';
import { ReplyTimeout } from '../vlm/model-server.ts';
import type { ServerProcess } from './launch-server.ts';
import type { ServerRecord } from './leftover.ts';
import { realClock, type ServerClock } from './server-clock.ts';
import type { ServerConnection } from './server-connection.ts';
import { type ServerLife, watchServer } from './server-life.ts';
import { SERVER_RULES, type ServerRules, type ServerState } from './server-state.ts';
import { startFailure, trialFailure } from './start-failure.ts';

const PROBE_EVERY_MS = 5_000;
const START_PROBE_MS = 2_000;
const START_LOOK_EVERY_MS = 250;
const TRIAL_AGAIN_MS = 2_000;
/** The first reply may have to wait for graphs to be compiled; one that takes longer is asked for again. */
const TRIAL_MS = 180_000;
/** What a program printed last arrives after the news of its end. */
const LAST_WORDS_MS = 250;

type Watched = Pick<ServerConnection, 'probe' | 'close'>;

interface LaunchedServer<C extends Watched> {
  readonly process: ServerProcess;
  readonly connection: C;
}

export interface ServerRunParts<C extends Watched> {
  /** as in the message of a failed start */
  readonly program: string;
  readonly startMs: number;
  readonly record: ServerRecord;
  readonly launch: () => Promise<LaunchedServer<C>>;
  /** Called once, when it answers; throws when it is not the server that is needed. */
  readonly meet: (connection: C, signal: AbortSignal) => Promise<void>;
  /** Has a small page read; throws what kept it from being read, and the signal's reason once that is raised. */
  readonly tryPage: (connection: C, signal: AbortSignal) => Promise<void>;
  readonly onEvent: ServerEngineHooks['onEvent'];
  readonly clock?: ServerClock;
  readonly rules?: ServerRules;
}

/** One life of one model server: launched, waited for, watched, and ended whole. */
export interface ServerRun<C> {
  /** Resolves when it has read a page. Whatever it rejects with, `close` ends what was started. */
  open(closing: AbortSignal): Promise<void>;
  /** null: it does not run */
  connection(): C | null;
  condition(): EngineState;
  /** Resolves when no process is left; may be called again when it fails. */
  close(): Promise<void>;
}

export function createServerRun<C extends Watched>(parts: ServerRunParts<C>): ServerRun<C> {
  const { record, onEvent, clock = realClock, rules = SERVER_RULES } = parts;
  let server: (LaunchedServer<C> & { readonly life: ServerLife }) | null = null;
  let trialFault: unknown = null;

  async function open(closing: AbortSignal): Promise<void> {
    if (await record.endLeftover()) onEvent({ event: 'server_left_behind' });
    closing.throwIfAborted();
    const launched = await parts.launch();
    const life = watchServer({
      exited: launched.process.exited,
      probe: launched.connection.probe,
      everyMs: PROBE_EVERY_MS,
      onChange: (state) => onEvent({ event: 'server_state', state: state.at, ...whyOf(state) }),
      ...{ clock, rules },
    });
    // Before anything else can fail: what runs must be known to `close`.
    server = { ...launched, life };
    await note(launched.process.pid);
    const opened = new AbortController();
    const timeUp = clock.sleep(parts.startMs, opened.signal).then(life.startTimeOver, () => undefined);
    const dead = new AbortController();
    void life.dead.then(() => dead.abort());
    try {
      await prepare(launched.connection, life, AbortSignal.any([closing, dead.signal]));
      life.pageRead();
    } catch (cause) {
      closing.throwIfAborted();
      if (life.state().at !== 'dead' || cause instanceof PagefleetError) throw cause;
      throw await failureOf(launched.process, life.state());
    } finally {
      opened.abort();
      await timeUp;
    }
  }

  /** Without a note nobody finds it if we are killed; the guard of the process ends it all the same. */
  async function note(pid: number): Promise<void> {
    await record.write(pid).catch((err: unknown) => onEvent({ event: 'server_not_noted', err }));
  }

  /** Waits until the server answers, knows the model and has read a page. Throws when the signal is raised. */
  async function prepare(connection: C, life: ServerLife, signal: AbortSignal): Promise<void> {
    while ((await connection.probe(START_PROBE_MS)) !== 'up') await clock.sleep(START_LOOK_EVERY_MS, signal);
    await parts.meet(connection, signal);
    while (!(await isPageRead(connection, life, signal))) await clock.sleep(TRIAL_AGAIN_MS, signal);
  }

  async function isPageRead(connection: C, life: ServerLife, signal: AbortSignal): Promise<boolean> {
    const [late, over] = [new AbortController(), new AbortController()];
    const hurry = clock.sleep(TRIAL_MS, over.signal).then(
      () => late.abort(),
      () => undefined,
    );
    try {
      signal.throwIfAborted();
      await parts.tryPage(connection, AbortSignal.any([signal, late.signal]));
      return true;
    } catch (err) {
      signal.throwIfAborted();
      trialFault = err;
      const isLate = late.signal.aborted || err instanceof ReplyTimeout;
      onEvent({ event: isLate ? 'trial_page_late' : 'trial_page_failed', err });
      if (!isLate) life.trialFailed();
      if (life.state().at === 'dead') throw trialFailure(err);
      return false;
    } finally {
      over.abort();
      await hurry;
    }
  }

  async function failureOf(server: ServerProcess, state: ServerState): Promise<PagefleetError> {
    await clock.sleep(LAST_WORDS_MS);
    const exit = await Promise.race([server.exited, Promise.resolve(null)]);
    const trial = trialFault === null ? '' : `; its trial page failed: ${messageOf(trialFault)}`;
    return startFailure({
      program: parts.program,
      why: `${state.at === 'dead' ? state.why : 'it was given up'}${trial}`,
      exitCode: exit?.code ?? null,
      tail: server.tail(),
    });
  }

  return {
    open,
    connection: () => server?.connection ?? null,
    condition: () => server?.life.state().at ?? 'starting',
    async close() {
      if (server === null) return;
      server.life.stop();
      await server.connection.close();
      await server.process.stop();
      server = null;
      // A note of a process that is gone names nobody.
      await record.remove().catch((err: unknown) => onEvent({ event: 'server_note_stays', err }));
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function whyOf(state: ServerState): { why?: string } {
  return state.at === 'dead' ? { why: state.why } : {};
}
