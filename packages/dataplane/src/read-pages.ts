import {
  ERRORS,
  type ErrorCode,
  PagefleetError,
  type PageOptions,
  type PageResult,
} from '@pagefleet/contract';
import type { Caller } from './admit/authenticate.ts';
import type { Ticket } from './admit/ticket.ts';
import type { DemandEntry } from './demand-book.ts';
import type { PageSender } from './forward/send-page.ts';
import type { PageJob, PageOutcome } from './queue/page-job.ts';
import type { ReadAhead } from './queue/read-ahead.ts';
import type { OcrOptions } from './read/ocr-options.ts';
import type { PageSource, SplitPage } from './split/page-source.ts';
import { selectPages } from './split/select-pages.ts';

export interface DocumentWork {
  /** unique in the cluster: pages are shared fairly between a caller's documents */
  readonly id: string;
  readonly caller: Caller;
  readonly options: OcrOptions;
  readonly pool: string;
  readonly requestId: string;
  readonly source: PageSource;
  readonly ticket: Ticket;
  readonly demand: DemandEntry;
  readonly signal: AbortSignal;
  /** Resolves when the client can take more. */
  drained(): Promise<void>;
  /** A page is over: `index` in the document, `position` among the `of` selected ones. */
  onPage(spot: PageSpot, outcome: PageOutcome): void;
}

/** Where a page stands. */
export interface PageSpot {
  /** in the document */
  readonly index: number;
  /** among the pages asked for */
  readonly position: number;
  /** pages asked for */
  readonly of: number;
}

export interface PageLine {
  readonly readAhead: ReadAhead;
  nextPageId(): string;
  /** How the pages of a pool are read. */
  senderOf(pool: string): PageSender;
  submit(job: PageJob): void;
  /** Takes a page that waits out of the queue; false when it is on a pod. */
  withdraw(job: PageJob): boolean;
  /** pages of one document that wait */
  ownWaiting(pool: string, key: string, document: string): number;
  nowMs(): number;
}

export interface PageCounts {
  readonly pages: number;
  readonly failed: number;
  /** the failure that speaks for all of them */
  readonly pageError: PagefleetError | null;
}

/** Pulls the selected pages out of a document one by one, sends each to the pods and hands on the results as they come. */
export async function readPages(work: DocumentWork, line: PageLine): Promise<PageCounts> {
  const { source, signal, pool, demand } = work;
  const selected = selectPages(work.options.pages, source.pageCount);
  demand.set(pool, selected.length);
  const failures: PagefleetError[] = [];
  const onOutcome = (position: number, index: number, outcome: PageOutcome): void => {
    if (outcome.kind === 'failed') failures.push(outcome.error);
    work.onPage({ position, index, of: selected.length }, outcome);
  };
  const pages = createOpenPages(work, line);
  try {
    for (const [position, index] of selected.entries()) {
      const page = await pages.takeOut(index);
      demand.set(pool, selected.length - position - 1);
      if (page.kind === 'failed') onOutcome(position, index, page);
      else pages.send(page, (outcome) => onOutcome(position, index, outcome));
    }
  } finally {
    await pages.allOver();
  }
  signal.throwIfAborted();
  return { pages: selected.length, failed: failures.length, pageError: speaksFor(failures) };
}

interface TakenPage {
  readonly kind: 'taken';
  readonly page: SplitPage;
  giveUnit(): void;
}

/** The pages of one document that are waiting or on a pod. */
function createOpenPages(work: DocumentWork, line: PageLine) {
  const { signal, pool, caller, options } = work;
  const open = new Map<PageJob<PageResult>, Promise<void>>();
  const pageOptions = optionsOf(options);
  const readOnPod = line.senderOf(pool);
  const onAbort = (): void => {
    for (const job of open.keys())
      if (line.withdraw(job)) job.settle({ kind: 'failed', error: signal.reason });
  };
  signal.addEventListener('abort', onAbort, { once: true });

  async function takeOut(index: number): Promise<TakenPage | Extract<PageOutcome, { kind: 'failed' }>> {
    await work.drained();
    await line.readAhead.turn(pool, () => line.ownWaiting(pool, caller.name, work.id), signal);
    const giveUnit = await work.ticket.takePage(signal);
    try {
      const page = await work.source.page(index, signal);
      // The client may have left meanwhile: nobody would take this page out of the queue again.
      if (signal.aborted) page.bytes.release();
      signal.throwIfAborted();
      return { kind: 'taken', page, giveUnit };
    } catch (cause) {
      giveUnit();
      signal.throwIfAborted();
      return { kind: 'failed', error: toError(cause) };
    }
  }

  function send({ page, giveUnit }: TakenPage, onOutcome: (outcome: PageOutcome) => void): void {
    const over = Promise.withResolvers<void>();
    const job: PageJob<PageResult> = {
      id: line.nextPageId(),
      key: caller.name,
      document: work.id,
      enqueuedAtMs: line.nowMs(),
      pool,
      what: 'page',
      requestId: work.requestId,
      signal,
      send: (dispatch) => readOnPod({ body: page.bytes, kind: page.kind, options: pageOptions }, dispatch),
      attempts: [],
      dispatches: 0,
      exclude: new Set(),
      deadlineAtMs: null,
      settle(outcome) {
        if (!open.delete(job)) return;
        page.bytes.release();
        giveUnit();
        over.resolve();
        onOutcome(outcome);
      },
    };
    open.set(job, over.promise);
    line.submit(job);
  }

  async function allOver(): Promise<void> {
    await Promise.all(open.values());
    signal.removeEventListener('abort', onAbort);
  }

  return { takeOut, send, allOver };
}

function optionsOf({ languages, blocks, confidence }: OcrOptions): PageOptions {
  return {
    ...(languages === null ? {} : { languages: [...languages] }),
    ...(confidence === 'word' ? { words: true } : {}),
    ...(blocks ? { blocks: true } : {}),
  };
}

/** A failure that may pass speaks before one that never will: the client then sends the document again. */
function speaksFor(failures: readonly PagefleetError[]): PagefleetError | null {
  return (
    failures.find(({ code }) => ERRORS[code satisfies ErrorCode].retry !== 'never') ?? failures[0] ?? null
  );
}

function toError(cause: unknown): PagefleetError {
  if (cause instanceof PagefleetError) return cause;
  return new PagefleetError('internal', 'the page could not be taken out of its document', { cause });
}
