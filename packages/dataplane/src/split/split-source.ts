import { PagefleetError } from '@pagefleet/contract';
import type { DocumentLimits } from '@pagefleet/engines';
import type { BodyStore } from '../read/body-store.ts';
import type { HeldBytes } from '../read/held-bytes.ts';
import type { PageSource, SplitPage } from './page-source.ts';
import type { SeatHolder, Seats } from './seats.ts';
import type { SplitTask } from './split-messages.ts';
import { openRunner, type SplitRunner, SplitterDied, type SplitterLine } from './split-runner.ts';

/** A place where a document can be opened. */
interface Place {
  readonly seats: Seats;
  open(task: SplitTask): SplitterLine;
}

export interface SplitSourceOptions {
  readonly limits: DocumentLimits;
  readonly store: BodyStore;
  /** for opening; each page has its own */
  readonly signal: AbortSignal;
  /** A document that brings down the first place is tried once in the second. */
  readonly places: readonly [Place, Place];
}

/** The document's last place may be brought down by this many pages; then it is given up as a whole. */
const MAX_DEATHS_IN_LAST_PLACE = 3;

export async function createSplitSource(bytes: HeldBytes, options: SplitSourceOptions): Promise<PageSource> {
  const { places, store, limits } = options;
  const input = bytes.place === 'file' ? { path: bytes.path } : { bytes: bytes.bytes };
  let place: Place = places[0];
  let deaths = 0;
  let runner: SplitRunner | null = null;
  let busy = false;
  let closed = false;

  const holder: SeatHolder = {
    isIdle: () => runner !== null && !busy,
    evict: leave,
  };

  /** Gives up the seat; the document is opened again when its next page is wanted. */
  function leave(): void {
    runner?.close();
    runner = null;
    place.seats.give(holder);
  }

  async function opened(signal: AbortSignal): Promise<SplitRunner> {
    if (runner) return runner;
    await place.seats.take(holder, signal);
    try {
      runner = await openRunner(place.open({ input, limits }));
      return runner;
    } catch (cause) {
      place.seats.give(holder);
      throw cause;
    }
  }

  /** Runs a step where the document is open; after a death once more in the next place. */
  async function step<T>(signal: AbortSignal, act: (runner: SplitRunner) => Promise<T>): Promise<T> {
    busy = true;
    try {
      return await act(await opened(signal));
    } catch (cause) {
      if (!(cause instanceof SplitterDied)) throw cause;
      return await afterDeath(cause, signal, act);
    } finally {
      busy = false;
      if (closed) leave();
      else place.seats.becameIdle();
    }
  }

  async function afterDeath<T>(
    cause: SplitterDied,
    signal: AbortSignal,
    act: (runner: SplitRunner) => Promise<T>,
  ): Promise<T> {
    const isLast = place === places[1];
    if (runner) leave();
    if (isLast) deaths += 1;
    if (deaths >= MAX_DEATHS_IN_LAST_PLACE) throw damaged(cause);
    if (isLast) throw unreadable(cause);
    place = places[1];
    try {
      return await act(await opened(signal));
    } catch (second) {
      if (!(second instanceof SplitterDied)) throw second;
      const isOpen = runner !== null;
      if (runner) leave();
      deaths += 1;
      throw isOpen ? unreadable(second) : damaged(second);
    }
  }

  async function page(index: number, signal: AbortSignal): Promise<SplitPage> {
    if (deaths >= MAX_DEATHS_IN_LAST_PLACE) throw damaged();
    const taken = await step(signal, (open) => open.page(index));
    return { kind: taken.kind, bytes: await store.hold(taken.bytes) };
  }

  const pageCount = await step(options.signal, async (open) => open.pageCount);
  return {
    pageCount,
    page,
    close() {
      if (closed) return;
      closed = true;
      if (runner && !busy) leave();
      bytes.release();
    },
  };
}

function damaged(cause?: unknown): PagefleetError {
  return new PagefleetError('document_damaged', 'the document brings down or hangs every reader', { cause });
}

function unreadable(cause: unknown): PagefleetError {
  return new PagefleetError('page_unreadable', 'this page brings down or hangs every reader', { cause });
}
