import { type EngineState, PagefleetError, type PageResult } from '@pagefleet/contract';
import { createPageSlots } from './page-slots.ts';
import type { Engine, PageInput } from './port.ts';

/** What an engine has to bring; its life (one start, slots, states) is the same for all. */
export interface EngineCore {
  readonly name: string;
  version(): string;
  open(): Promise<void>;
  read(page: PageInput): Promise<PageResult>;
  close(): Promise<void>;
}

type Life =
  | { readonly at: 'new' }
  | { readonly at: 'starting'; readonly started: Promise<void> }
  | { readonly at: 'open' }
  | { readonly at: 'failed'; readonly cause: unknown }
  | { readonly at: 'closed' };

export function createEngineLife(core: EngineCore, width: number): Engine {
  const slots = createPageSlots(width);
  const closing = new AbortController();
  let life: Life = { at: 'new' };

  function start(): Promise<void> {
    if (life.at === 'starting') return life.started;
    if (life.at === 'open') return Promise.resolve();
    if (life.at === 'closed') return Promise.reject(new PagefleetError('stopping', 'the engine is closed'));
    const started = core.open().then(
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
    await ready();
    const signal = AbortSignal.any([page.signal, closing.signal]);
    const release = await slots
      .take(signal)
      .catch((cause: unknown) => Promise.reject(toAbortError(signal, cause)));
    try {
      return await core.read({ ...page, signal });
    } catch (cause) {
      throw signal.aborted ? toAbortError(signal, cause) : toEngineError(cause);
    } finally {
      release();
    }
  }

  return {
    name: core.name,
    get version() {
      return core.version();
    },
    start,
    state: () => stateOf(life, slots.free()),
    read,
    async close() {
      const before = life;
      life = { at: 'closed' };
      closing.abort(new PagefleetError('stopping', 'the engine is closed'));
      if (before.at === 'starting') await before.started.catch(() => undefined);
      await slots.idle();
      await core.close();
    },
  };
}

function stateOf(life: Life, free: number): EngineState {
  switch (life.at) {
    case 'new':
    case 'starting':
      return 'starting';
    case 'open':
      return free > 0 ? 'ready' : 'busy';
    case 'failed':
    case 'closed':
      return 'dead';
  }
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
