import { type Config, PagefleetError } from '@pagefleet/contract';
import type { Logger } from '@pagefleet/runtime';
import { type DoorOptions, type Entered, enter } from './admit/enter.ts';
import type { DemandBook, DemandEntry } from './demand-book.ts';
import type { SourceOptions } from './open-source.ts';
import type { BodyDecoder } from './read/body-decoder.ts';
import type { BodyStore } from './read/body-store.ts';
import { type IncomingItem, readDocuments, releaseAll } from './read/read-documents.ts';
import { type ItemOptions, readItem } from './read-item.ts';
import type { PageLine } from './read-pages.ts';
import { createReply } from './reply/create-reply.ts';
import type { Exchange } from './reply/exchange.ts';
import type { Reply } from './reply/reply.ts';
import { runLimited } from './run-limited.ts';

export interface OcrServiceOptions extends Omit<SourceOptions, 'limits'> {
  readonly config: Config;
  readonly door: DoorOptions;
  readonly demand: DemandBook;
  readonly store: BodyStore;
  readonly decoder: BodyDecoder;
  readonly line: PageLine;
  readonly logger: Logger;
}

/** A request that was let in. */
interface OpenRequest {
  readonly exchange: Exchange;
  readonly kind: 'one' | 'batch';
  readonly query: URLSearchParams;
  readonly entered: Entered;
  /** its first document, known since the door */
  readonly coming: DemandEntry;
}

/** Documents of one batch that are split at the same time. */
const BATCH_CONCURRENCY = 4;

/** Answers requests of `/v1/ocr` and `/v1/ocr/batch`. */
export class OcrService {
  readonly #options: OcrServiceOptions;
  readonly #itemOptions: ItemOptions;

  constructor(options: OcrServiceOptions) {
    this.#options = options;
    this.#itemOptions = {
      ...options,
      capacity: options.door,
      toError: (cause, requestId) => this.#toError(cause, requestId),
    };
  }

  /** Answers, whatever happens, and gives back all it took. Never rejects. */
  async serve(exchange: Exchange, kind: 'one' | 'batch'): Promise<void> {
    const query = queryOf(exchange.request.url ?? '');
    const coming = this.#openDemand();
    try {
      const entered = await enter(
        { request: exchange.request, query, signal: exchange.signal },
        this.#options.door,
      );
      try {
        await this.#serveEntered({ exchange, kind, query, entered, coming });
      } finally {
        entered.ticket.close();
      }
    } catch (cause) {
      this.#tellFailure(exchange, exchange, cause);
    } finally {
      coming.close();
    }
  }

  async #serveEntered(request: OpenRequest): Promise<void> {
    const { exchange, kind, entered, coming } = request;
    const items = await this.#read(request);
    const { responsePaddingAfterMs } = this.#options.config.limits;
    const reply = createReply(exchange, kind === 'batch' ? namesOf(items) : null, responsePaddingAfterMs);
    const demands = items.map((_, position) => (position === 0 ? coming : this.#openDemand()));
    try {
      await runLimited(items, BATCH_CONCURRENCY, (item, position) => {
        const demand = demands[position] ?? coming;
        return readItem({ item, position, demand, exchange, entered, reply }, this.#itemOptions);
      });
      reply.finish();
    } catch (cause) {
      this.#tellFailure(exchange, reply, cause);
    } finally {
      for (const demand of demands) demand.close();
      releaseAll(items);
    }
  }

  #read({ exchange, kind, query }: OpenRequest): Promise<IncomingItem[]> {
    const { store, decoder, config } = this.#options;
    const { limits } = config;
    return readDocuments(exchange.request, {
      store,
      decoder,
      query,
      maxDocuments: kind === 'batch' ? limits.maxDocumentsPerBatch : null,
      maxBytes: limits.maxBodyBytes,
      upload: { minBytesPerSecond: limits.uploadMinRateBytes, deadlineMs: limits.uploadDeadlineMs },
      signal: exchange.signal,
    });
  }

  /** A document that is still coming in counts for the first pool. */
  #openDemand(): DemandEntry {
    return this.#options.demand.open(this.#options.door.pools.poolOf(null));
  }

  #tellFailure(exchange: Exchange, to: Pick<Reply, 'fail'>, cause: unknown): void {
    // Nobody is there to be told.
    if (!exchange.signal.aborted) to.fail(this.#toError(cause, exchange.requestId));
  }

  #toError(cause: unknown, requestId: string): PagefleetError {
    if (cause instanceof PagefleetError && cause.code !== 'internal') return cause;
    this.#options.logger.error({ err: cause, requestId }, 'request_failed');
    return new PagefleetError('internal', 'a fault of ours', { cause });
  }
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}

/** Names by which a batch tells its documents apart; equal ones get a number. */
function namesOf(items: readonly IncomingItem[]): string[] {
  const seen = new Set<string>();
  return items.map((item, position) => {
    const given = 'document' in item ? item.document.name : null;
    const name = given && !seen.has(given) ? given : `${given ?? 'document'}-${position + 1}`;
    seen.add(name);
    return name;
  });
}
