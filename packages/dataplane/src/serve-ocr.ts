import { randomUUID } from 'node:crypto';
import { type Config, PagefleetError } from '@pagefleet/contract';
import type { Logger } from '@pagefleet/runtime';
import { type DoorOptions, type Entered, enter } from './admit/enter.ts';
import { checkCapacity } from './check-capacity.ts';
import type { DemandBook, DemandEntry } from './demand-book.ts';
import { type OpenedSource, openSource, type SourceOptions } from './open-source.ts';
import type { BodyDecoder } from './read/body-decoder.ts';
import type { BodyStore } from './read/body-store.ts';
import {
  type IncomingDocument,
  type IncomingItem,
  readDocuments,
  releaseAll,
} from './read/read-documents.ts';
import { type PageCounts, type PageLine, readPages } from './read-pages.ts';
import { createReply } from './reply/create-reply.ts';
import type { Exchange } from './reply/exchange.ts';
import type { DocumentEnd, Reply } from './reply/reply.ts';
import { toFailedPage, toOcrPage } from './reply/to-ocr-page.ts';
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

/** Answers one request of `/v1/ocr` or `/v1/ocr/batch`, whatever happens, and gives back all it took. Never rejects. */
export type OcrService = (exchange: Exchange, kind: 'one' | 'batch') => Promise<void>;

/** Documents of one batch that are split at the same time. */
const BATCH_CONCURRENCY = 4;
const NO_PAGES: PageCounts = { pages: 0, failed: 0, pageError: null };

interface Work {
  readonly exchange: Exchange;
  readonly entered: Entered;
  readonly reply: Reply;
}

export function createOcrService(options: OcrServiceOptions): OcrService {
  const { config, door, demand, logger } = options;

  async function serve(exchange: Exchange, kind: 'one' | 'batch'): Promise<void> {
    const query = queryOf(exchange.request.url ?? '');
    const coming = demand.open(firstPool());
    try {
      if (door.pools.names().length === 1) checkCapacity(firstPool(), query.get('require') === 'fleet', door);
      const entered = await enter(exchange.request, door, exchange.signal);
      try {
        await serveEntered({ exchange, kind, query, entered, coming });
      } finally {
        entered.ticket.close();
      }
    } catch (cause) {
      tellFailure(exchange, exchange, cause);
    } finally {
      coming.close();
    }
  }

  async function serveEntered(request: {
    readonly exchange: Exchange;
    readonly kind: 'one' | 'batch';
    readonly query: URLSearchParams;
    readonly entered: Entered;
    readonly coming: DemandEntry;
  }): Promise<void> {
    const { exchange, kind, entered } = request;
    const items = await readDocuments(exchange.request, {
      store: options.store,
      decoder: options.decoder,
      query: request.query,
      maxDocuments: kind === 'batch' ? config.limits.maxDocumentsPerBatch : null,
      maxBytes: config.limits.maxBodyBytes,
      upload: {
        minBytesPerSecond: config.limits.uploadMinRateBytes,
        deadlineMs: config.limits.uploadDeadlineMs,
      },
      signal: exchange.signal,
    });
    const reply = createReply(
      exchange,
      kind === 'batch' ? namesOf(items) : null,
      config.limits.responsePaddingAfterMs,
    );
    const demands = items.map((_, position) => (position === 0 ? request.coming : demand.open(firstPool())));
    try {
      await runLimited(items, BATCH_CONCURRENCY, (item, position) =>
        readItem(item, position, demands[position] ?? request.coming, { exchange, entered, reply }),
      );
      reply.finish();
    } catch (cause) {
      tellFailure(exchange, reply, cause);
    } finally {
      for (const entry of demands) entry.close();
      releaseAll(items);
    }
  }

  /** One document to its end, good or bad. Rejects only when nobody waits for it any more. */
  async function readItem(
    item: IncomingItem,
    position: number,
    entry: DemandEntry,
    work: Work,
  ): Promise<void> {
    let end: Omit<DocumentEnd, 'error'> = { ...NO_PAGES, model: '', bytes: 0 };
    try {
      if ('error' in item) throw item.error;
      end = await readDocument(item.document, position, entry, work);
      const error = end.pages > 0 && end.failed === end.pages ? end.pageError : null;
      work.reply.documentEnd(position, { ...end, error });
    } catch (cause) {
      work.exchange.signal.throwIfAborted();
      work.reply.documentEnd(position, { ...end, error: toError(cause, work.exchange.requestId) });
    } finally {
      entry.close();
    }
  }

  async function readDocument(
    document: IncomingDocument,
    position: number,
    entry: DemandEntry,
    { exchange, entered, reply }: Work,
  ): Promise<Omit<DocumentEnd, 'error'>> {
    const pool = door.pools.poolOf(document.options.model);
    entry.set(pool, 1);
    checkCapacity(pool, document.options.requireFleet, door);
    const { source, bytes }: OpenedSource = await openSource(
      document,
      { ...options, limits: config.limits },
      exchange.signal,
    );
    try {
      const counts = await readPages(
        {
          id: randomUUID(),
          caller: entered.caller,
          options: document.options,
          pool,
          requestId: exchange.requestId,
          source,
          ticket: entered.ticket,
          demand: entry,
          signal: exchange.signal,
          drained: exchange.drained,
          onPage({ position: at, index, of }, outcome) {
            const page =
              outcome.kind === 'read'
                ? toOcrPage(index, outcome.result, document.options)
                : toFailedPage(index, outcome.error);
            reply.page(position, at, page, of);
          },
        },
        options.line,
      );
      return { ...counts, model: document.options.model ?? pool, bytes };
    } finally {
      source.close();
    }
  }

  function firstPool(): string {
    return door.pools.poolOf(null);
  }

  function tellFailure(exchange: Exchange, to: Pick<Reply, 'fail'>, cause: unknown): void {
    // Nobody is there to be told.
    if (!exchange.signal.aborted) to.fail(toError(cause, exchange.requestId));
  }

  function toError(cause: unknown, requestId: string): PagefleetError {
    if (cause instanceof PagefleetError && cause.code !== 'internal') return cause;
    logger.error({ err: cause, requestId }, 'request_failed');
    return new PagefleetError('internal', 'a fault of ours', { cause });
  }

  return serve;
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
