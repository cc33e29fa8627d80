import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineState, PagefleetError, type PageResult } from '@pagefleet/contract';
import { createPageSlots } from './page-slots.ts';
import type { Engine, ModelAnswer, ModelRequest, PageInput } from './port.ts';

/** What an engine has to bring; its life (one start, slots, states) is the same for all. */
export interface EngineCore {
  readonly name: string;
  version(): string;
  /** Gives up when the signal is raised: the engine is closed while it starts. */
  open(closing: AbortSignal): Promise<void>;
  read(page: PageInput): Promise<PageResult>;
  /** see `Engine.forward` */
  forward?(request: ModelRequest): Promise<ModelAnswer>;
  /** how it is once it is open, where that can change by itself */
  condition?(): EngineState;
  close(): Promise<void>;
}

type Life =
  | { readonly at: 'new' }
  | { readonly at: 'starting'; readonly started: Promise<void> }
  | { readonly at: 'open' }
  | { readonly at: 'failed'; readonly cause: unknown }
  | { readonly at: 'closed' };

/** A reading that was told to end and is not over by then may need the end of what it waits for. */
const LAST_READINGS_MS = 10_000;
const realPatience = (): Promise<void> => sleep(LAST_READINGS_MS, undefined, { ref: false });

export function createEngineLife(
  core: EngineCore,
  width: number,
  patience: () => Promise<void> = realPatience,
): Engine {
  const slots = createPageSlots(width);
  const closing = new AbortController();
  let life: Life = { at: 'new' };

  function start(): Promise<void> {
    if (life.at === 'starting') return life.started;
    if (life.at === 'open') return Promise.resolve();
    if (life.at === 'closed') return Promise.reject(new PagefleetError('stopping', 'the engine is closed'));
    const started = core.open(closing.signal).then(
      () => {
        if (life.at === 'starting') life = { at: 'open' };
      },
      (cause: unknown) => {
        if (life.at === 'starting') life = { at: 'failed', cause };
        throw cause;
      },
    );
    life = { at: 'starting', started };
    return started;
  }

  async function ready(): Promise<void> {
    if (life.at === 'starting') await life.started;
    if (life.at === 'open') return;
    if (life.at === 'closed') throw new PagefleetError('stopping', 'the engine is closed');
    if (life.at === 'failed') {
      throw new PagefleetError('engine_not_ready', 'the engine did not start', { cause: life.cause });
    }
    throw new PagefleetError('engine_not_ready', 'the engine has not been started');
  }

  async function read(page: PageInput): Promise<PageResult> {
    const { signal, release } = await enter(page.signal);
    try {
      return await core.read({ ...page, signal });
    } catch (cause) {
      throw toKnownError(signal, cause);
    } finally {
      release();
    }
  }

  /** The slot is given back when the body of the answer is over, whoever ends it. */
  async function forwardBy(
    send: NonNullable<EngineCore['forward']>,
    request: ModelRequest,
  ): Promise<ModelAnswer> {
    const { signal, release } = await enter(request.signal);
    try {
      const answer = await send({ ...request, signal });
      answer.body.once('close', release);
      if (answer.body.closed) release();
      return answer;
    } catch (cause) {
      release();
      throw toKnownError(signal, cause);
    }
  }

  /** Waits for a running start and for a slot. */
  async function enter(wish: AbortSignal): Promise<{ signal: AbortSignal; release: () => void }> {
    await ready();
    const signal = AbortSignal.any([wish, closing.signal]);
    const release = await slots
      .take(signal)
      .catch((cause: unknown) => Promise.reject(toAbortError(signal, cause)));
    return { signal, release };
  }

  const { forward } = core;
  return {
    name: core.name,
    get version() {
      return core.version();
    },
    start,
    state: () => stateOf(life, slots.free(), core.condition?.() ?? 'ready'),
    read,
    ...(forward === undefined ? {} : { forward: (request) => forwardBy(forward, request) }),
    async close() {
      const before = life;
      life = { at: 'closed' };
      closing.abort(new PagefleetError('stopping', 'the engine is closed'));
      if (before.at === 'starting') await before.started.catch(() => undefined);
      await Promise.race([slots.idle(), patience()]);
      await core.close();
    },
  };
}

function stateOf(life: Life, free: number, condition: EngineState): EngineState {
  switch (life.at) {
    case 'new':
    case 'starting':
      return 'starting';
    case 'open':
      if (condition !== 'ready') return condition;
      return free > 0 ? 'ready' : 'busy';
    case 'failed':
    case 'closed':
      return 'dead';
  }
}

function toKnownError(signal: AbortSignal, cause: unknown): PagefleetError {
  return signal.aborted ? toAbortError(signal, cause) : toEngineError(cause);
}

function toAbortError(signal: AbortSignal, cause: unknown): PagefleetError {
  if (signal.reason instanceof PagefleetError) return signal.reason;
  return new PagefleetError('client_gone', 'the reading was ended before the page was read', { cause });
}

function toEngineError(cause: unknown): PagefleetError {
  if (cause instanceof PagefleetError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new PagefleetError('engine_failed', `the engine failed on this page: ${reason}`, { cause });
}
