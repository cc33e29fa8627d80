import { randomUUID } from 'node:crypto';
import { type Config, type ModelPath, PagefleetError } from '@pagefleet/contract';
import type { Logger } from '@pagefleet/runtime';
import { type DoorOptions, type Entered, enter } from '../admit/enter.ts';
import { checkPool } from '../check-capacity.ts';
import type { DemandBook, DemandEntry } from '../demand-book.ts';
import type { PageJob, PageOutcome } from '../queue/page-job.ts';
import type { BodyDecoder } from '../read/body-decoder.ts';
import type { BodyStore } from '../read/body-store.ts';
import type { HeldBytes } from '../read/held-bytes.ts';
import { checkEncoding, readWhole } from '../read/read-documents.ts';
import type { PageLine } from '../read-pages.ts';
import type { Exchange } from '../reply/exchange.ts';
import { type ChatOutput, createChatOutput } from './chat-output.ts';
import type { ChatHead } from './parse-chat-head.ts';
import { sendChat } from './send-chat.ts';

export interface ChatServiceOptions {
  readonly config: Config;
  readonly door: DoorOptions;
  readonly demand: DemandBook;
  readonly store: BodyStore;
  readonly decoder: BodyDecoder;
  readonly line: Pick<PageLine, 'nextPageId' | 'submit' | 'withdraw' | 'nowMs'>;
  readonly logger: Logger;
}

/** A request that was let in. */
interface OpenChat {
  readonly exchange: Exchange;
  readonly path: ModelPath;
  readonly entered: Entered;
  /** until it waits in the queue of its pool */
  readonly coming: DemandEntry;
}

/** A request whose pool is known. */
interface RoutedChat extends OpenChat {
  readonly body: HeldBytes;
  readonly pool: string;
  readonly output: ChatOutput;
}

/** Answers `MODEL_PATHS`: one unit at the door like a page, then bytes to a pod and back. */
export class ChatService {
  readonly #options: ChatServiceOptions;

  constructor(options: ChatServiceOptions) {
    this.#options = options;
  }

  /** Answers, whatever happens, and gives back all it took. Never rejects. */
  async serve(exchange: Exchange, path: ModelPath): Promise<void> {
    const { door, demand } = this.#options;
    const coming = demand.open(door.pools.poolOf(null));
    try {
      checkMethod(exchange.request);
      const newcomer = { request: exchange.request, query: new URLSearchParams(), signal: exchange.signal };
      const entered = await enter(newcomer, door);
      try {
        await this.#serveEntered({ exchange, path, entered, coming });
      } finally {
        entered.ticket.close();
      }
    } catch (cause) {
      this.#tell(exchange, cause, (error) => (exchange.started ? exchange.cut() : exchange.fail(error)));
    } finally {
      coming.close();
    }
  }

  async #serveEntered(open: OpenChat): Promise<void> {
    const { config, store, decoder, door } = this.#options;
    const { limits } = config;
    const { exchange } = open;
    checkEncoding(exchange.request);
    const body = await readWhole(exchange.request, {
      store,
      maxBytes: limits.maxBodyBytes,
      upload: { minBytesPerSecond: limits.uploadMinRateBytes, deadlineMs: limits.uploadDeadlineMs },
      signal: exchange.signal,
    });
    try {
      const head = await decoder.chatHead(body, exchange.signal);
      const pool = door.pools.chatPoolOf(head.model);
      checkPool(pool, door);
      open.coming.set(pool, 1);
      await this.#forward({ ...open, body, pool, output: this.#outputFor(exchange, head) });
    } finally {
      body.release();
    }
  }

  #outputFor(exchange: Exchange, { isStream }: ChatHead): ChatOutput {
    return createChatOutput(exchange, isStream ? null : this.#options.config.limits.responsePaddingAfterMs);
  }

  async #forward(chat: RoutedChat): Promise<void> {
    const { exchange, output } = chat;
    try {
      const outcome = await this.#queue(chat);
      if (outcome.kind === 'failed') this.#tell(exchange, outcome.error, output.fail);
    } finally {
      output.close();
    }
  }

  /** Resolves when no slot is held for it any more. */
  #queue({ exchange, path, entered, coming, body, pool, output }: RoutedChat): Promise<PageOutcome<null>> {
    const { line, door } = this.#options;
    const { signal, requestId, request } = exchange;
    const { promise, resolve } = Promise.withResolvers<PageOutcome<null>>();
    const chat = {
      ...{ path, body, output },
      contentType: request.headers['content-type'] ?? 'application/json',
      onUsage: (usage: { prompt: number; completion: number }) => door.metrics.chatTokens(pool, usage),
    };
    const job: PageJob<null> = {
      ...{ id: line.nextPageId(), key: entered.caller.name, document: randomUUID() },
      ...{ what: 'chat', pool, requestId, signal, enqueuedAtMs: line.nowMs() },
      ...{ attempts: [], dispatches: 0, exclude: new Set<string>(), deadlineAtMs: null },
      send: (dispatch) => sendChat(chat, dispatch),
      settle: resolve,
    };
    const onAbort = (): void => {
      if (line.withdraw(job)) job.settle({ kind: 'failed', error: signal.reason });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    coming.close();
    line.submit(job);
    if (signal.aborted) onAbort();
    return promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  #tell(exchange: Exchange, cause: unknown, to: (error: PagefleetError) => void): void {
    // Nobody is there to be told.
    if (!exchange.signal.aborted) to(this.#toError(cause, exchange.requestId));
  }

  #toError(cause: unknown, requestId: string): PagefleetError {
    if (cause instanceof PagefleetError && cause.code !== 'internal') return cause;
    this.#options.logger.error({ err: cause, requestId }, 'request_failed');
    return new PagefleetError('internal', 'a fault of ours', { cause });
  }
}

function checkMethod({ method }: Exchange['request']): void {
  if (method === 'POST') return;
  throw new PagefleetError('method_not_allowed', `this path takes POST, not ${method}`);
}
