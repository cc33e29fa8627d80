import {
  type Config,
  ENGINE_PROFILES,
  isProfileName,
  isStock,
  PagefleetError,
  type Pool,
  type ProfileName,
} from '@pagefleet/contract';
import {
  createVlmReader,
  type DrawRoom,
  openDrawRoom,
  type ReadingEvents,
  type ReadingSettings,
  readPrompt,
  type VlmReader,
} from '@pagefleet/engines';
import type { Logger } from '@pagefleet/runtime';
import { type Dispatch, type DispatchOutcome, failed, startStop } from '../forward/dispatch.ts';
import type { PageSender, PageToRead } from '../forward/send-page.ts';
import type { Metrics } from '../metrics.ts';
import { type HeldBytes, readAll } from '../read/held-bytes.ts';
import { observeReading } from './observe-reading.ts';
import { DrawingFault, podModelServer } from './pod-model-server.ts';

export interface WorkerReadersOptions {
  readonly config: Config;
  readonly metrics: Pick<Metrics, 'readingAsked' | 'readingRejected'>;
  readonly logger: Logger;
  /** for all pools together */
  readonly drawThreads: number;
}

/** The pools whose pages are drawn, prompted and parsed on this worker, against a stock image (decision 0012). */
export interface WorkerReaders {
  /** null: the pages of the pool are read in its pods */
  senderOf(pool: string): PageSender | null;
  close(): Promise<void>;
}

export function createWorkerReaders(options: WorkerReadersOptions): WorkerReaders {
  const senders = new Map<string, PageSender>();
  const room = openDrawRoom(options.drawThreads);
  for (const pool of options.config.pools) {
    if (isStock(pool) && isProfileName(pool.engine))
      senders.set(pool.name, createPoolSender(pool, pool.engine, { ...options, room }));
  }
  return {
    senderOf: (pool) => senders.get(pool) ?? null,
    close: room.close,
  };
}

function createPoolSender(
  pool: Pool,
  profile: ProfileName,
  { config, metrics, logger, room }: WorkerReadersOptions & { readonly room: DrawRoom },
): PageSender {
  const { picture } = ENGINE_PROFILES[profile];
  const limits = { profile: picture, dpi: pool.reading.dpi, maxPixels: config.limits.maxPixels };
  const drawing = room.drawing(limits);
  const events: ReadingEvents = {
    asked: () => metrics.readingAsked(pool.name, 1),
    rejected: (why, tokens) => metrics.readingRejected(pool.name, why, tokens),
  };
  let reader: Promise<VlmReader> | null = null;

  /** Read when the first page comes; a prompt that was missing is looked for again by the next page. */
  function open(): Promise<VlmReader> {
    reader ??= readPrompt(profile, pool.reading.prompts)
      .then((prompt) => createVlmReader(settingsOf(pool, profile, prompt), drawing))
      .catch((cause) => {
        reader = null;
        throw cause;
      });
    return reader;
  }
  open().catch((err) => logger.error({ err, pool: pool.name }, 'prompt_missing'));

  const drawnInVain = new WeakSet<HeldBytes>();
  return (page, dispatch) => readOnWorker(page, dispatch, { open, events, drawnInVain });
}

function settingsOf({ reading, vllm }: Pool, profile: ProfileName, prompt: string): ReadingSettings {
  const { loopAbort, loopFirstLook: firstLook, loopStep: step, loopHits: hits } = reading;
  return {
    ...{ profile, prompt },
    maxTokens: reading.maxTokens,
    maxModelLen: vllm.maxModelLen,
    continuations: reading.continuations,
    retries: reading.retries,
    timeoutMs: reading.requestTimeoutMs,
    loop: loopAbort ? { firstLook, step, hits } : null,
    accentRepair: reading.accentRepair,
    tokenTrace: reading.tokenTrace,
  };
}

interface ReadingParts {
  open(): Promise<VlmReader>;
  readonly events: ReadingEvents;
  /** pages whose drawing has ended a thread before */
  readonly drawnInVain: WeakSet<HeldBytes>;
}

/** Reads one page with the model server in one pod. Rejects for a fault of ours that is nobody's. */
async function readOnWorker(
  { body, kind }: PageToRead,
  dispatch: Dispatch,
  { open, events, drawnInVain }: ReadingParts,
): Promise<DispatchOutcome> {
  const stop = startStop(dispatch);
  try {
    if (stop.reason) return failed({ kind: stop.reason });
    const reader = await open();
    const page = { load: () => readAll(body), kind, signal: stop.signal };
    const result = await reader.read(page, podModelServer(dispatch, stop), events);
    return { kind: 'read', result };
  } catch (error) {
    const known = error instanceof DrawingFault && drawnInVain.has(body) ? cannotBeDrawn(error) : error;
    if (error instanceof DrawingFault) drawnInVain.add(body);
    const outcome = observeReading(known, stop.reason, dispatch.pod);
    if (outcome === null) throw error;
    return outcome;
  } finally {
    stop.clear();
  }
}

function cannotBeDrawn(cause: unknown): PagefleetError {
  return new PagefleetError('page_unreadable', 'the page cannot be drawn: two threads ended over it', {
    cause,
  });
}
