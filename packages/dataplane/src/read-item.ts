import { randomUUID } from 'node:crypto';
import type { Config, PagefleetError } from '@pagefleet/contract';
import type { Entered } from './admit/enter.ts';
import { type Capacity, choosePool } from './check-capacity.ts';
import type { DemandEntry } from './demand-book.ts';
import { openSource, type SourceOptions } from './open-source.ts';
import type { PageOutcome } from './queue/page-job.ts';
import type { OcrOptions } from './read/ocr-options.ts';
import type { IncomingDocument, IncomingItem } from './read/read-documents.ts';
import { type PageCounts, type PageLine, type PageSpot, readPages } from './read-pages.ts';
import type { Exchange } from './reply/exchange.ts';
import type { DocumentEnd, Reply } from './reply/reply.ts';
import { toFailedPage, toOcrPage } from './reply/to-ocr-page.ts';

export interface ItemOptions extends Omit<SourceOptions, 'limits'> {
  readonly config: Config;
  readonly capacity: Capacity;
  readonly line: PageLine;
  /** What the client is told of anything thrown. */
  toError(cause: unknown, requestId: string): PagefleetError;
}

/** One item of a request, and where its results go. */
export interface ItemWork {
  readonly item: IncomingItem;
  readonly position: number;
  readonly demand: DemandEntry;
  readonly exchange: Exchange;
  readonly entered: Entered;
  readonly reply: Reply;
}

const NOTHING: PageCounts = { pages: 0, failed: 0, pageError: null };

/** One document to its end, good or bad. Rejects only when nobody waits for it any more. */
export async function readItem(work: ItemWork, options: ItemOptions): Promise<void> {
  const { item, position, reply, exchange } = work;
  let end: Omit<DocumentEnd, 'error'> = { ...NOTHING, model: '', bytes: 0 };
  try {
    if ('error' in item) throw item.error;
    end = await readDocument(item.document, work, options);
    const error = end.pages > 0 && end.failed === end.pages ? end.pageError : null;
    reply.documentEnd(position, { ...end, error });
  } catch (cause) {
    exchange.signal.throwIfAborted();
    reply.documentEnd(position, { ...end, error: options.toError(cause, exchange.requestId) });
  } finally {
    work.demand.close();
  }
}

async function readDocument(
  document: IncomingDocument,
  work: ItemWork,
  options: ItemOptions,
): Promise<Omit<DocumentEnd, 'error'>> {
  const { exchange, entered, demand } = work;
  const { model, requireFleet } = document.options;
  const { pools } = options.capacity;
  const asked = pools.poolOf(model);
  const isFleetOnly = requireFleet || pools.isFleetOnly(asked, entered.caller.name);
  const pool = choosePool(asked, isFleetOnly, options.capacity);
  demand.set(pool, 1);
  const limits = options.config.limits;
  const { source, bytes } = await openSource(document, { ...options, limits }, exchange.signal);
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
        demand,
        signal: exchange.signal,
        drained: exchange.drained,
        onPage: (spot, outcome) =>
          work.reply.page(work.position, spot.position, pageOf(spot, outcome, document.options), spot.of),
      },
      options.line,
    );
    return { ...counts, model: model ?? pool, bytes };
  } finally {
    source.close();
  }
}

function pageOf({ index }: PageSpot, outcome: PageOutcome, options: OcrOptions) {
  return outcome.kind === 'read'
    ? toOcrPage(index, outcome.result, options)
    : toFailedPage(index, outcome.error);
}
