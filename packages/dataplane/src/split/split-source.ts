import { PagefleetError } from '@pagefleet/contract';
import type { DocumentLimits } from '@pagefleet/engines';
import type { BodyStore } from '../read/body-store.ts';
import { type HeldBytes, joined } from '../read/held-bytes.ts';
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

/** Opens it, or rejects with what is wrong with the document; the caller then still owns the bytes. */
export async function createSplitSource(bytes: HeldBytes, options: SplitSourceOptions): Promise<PageSource> {
  const source = new SplitSource(bytes, options);
  await source.open();
  return source;
}

class SplitSource implements PageSource {
  pageCount = 0;
  readonly #bytes: HeldBytes;
  readonly #task: SplitTask;
  readonly #options: SplitSourceOptions;
  readonly #holder: SeatHolder;
  #place: Place;
  /** in the last place */
  #deaths = 0;
  #runner: SplitRunner | null = null;
  #busy = false;
  #closed = false;

  constructor(bytes: HeldBytes, options: SplitSourceOptions) {
    this.#bytes = bytes;
    this.#options = options;
    this.#place = options.places[0];
    const input = bytes.place === 'file' ? { path: bytes.path } : { bytes: joined(bytes) };
    this.#task = { input, limits: options.limits };
    this.#holder = {
      isIdle: () => this.#runner !== null && !this.#busy,
      evict: () => this.#leave(),
    };
  }

  async open(): Promise<void> {
    this.pageCount = await this.#step(this.#options.signal, async (runner) => runner.pageCount);
  }

  async page(index: number, signal: AbortSignal): Promise<SplitPage> {
    if (this.#deaths >= MAX_DEATHS_IN_LAST_PLACE) throw damaged();
    const taken = await this.#step(signal, (runner) => runner.page(index));
    return { kind: taken.kind, bytes: await this.#options.store.hold(taken.bytes) };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#runner && !this.#busy) this.#leave();
    this.#bytes.release();
  }

  /** Runs a step where the document is open; after a death once more in the next place. */
  async #step<T>(signal: AbortSignal, act: (runner: SplitRunner) => Promise<T>): Promise<T> {
    this.#busy = true;
    try {
      return await act(await this.#opened(signal));
    } catch (cause) {
      if (!(cause instanceof SplitterDied)) throw cause;
      return await this.#afterDeath(cause, signal, act);
    } finally {
      this.#busy = false;
      if (this.#closed) this.#leave();
      else this.#place.seats.becameIdle();
    }
  }

  async #opened(signal: AbortSignal): Promise<SplitRunner> {
    if (this.#runner) return this.#runner;
    await this.#place.seats.take(this.#holder, signal);
    try {
      this.#runner = await openRunner(this.#place.open(this.#task));
      return this.#runner;
    } catch (cause) {
      this.#place.seats.give(this.#holder);
      throw cause;
    }
  }

  async #afterDeath<T>(
    cause: SplitterDied,
    signal: AbortSignal,
    act: (runner: SplitRunner) => Promise<T>,
  ): Promise<T> {
    const [, last] = this.#options.places;
    if (this.#place === last) throw this.#deathInLastPlace(cause);
    if (this.#runner) this.#leave();
    this.#place = last;
    try {
      return await act(await this.#opened(signal));
    } catch (second) {
      if (!(second instanceof SplitterDied)) throw second;
      throw this.#deathInLastPlace(second);
    }
  }

  /** A page that does it is unreadable; a document that cannot even be opened, or does it again and again, is damaged. */
  #deathInLastPlace(cause: SplitterDied): PagefleetError {
    this.#deaths += 1;
    const wasOpen = this.#runner !== null;
    if (wasOpen) this.#leave();
    return wasOpen && this.#deaths < MAX_DEATHS_IN_LAST_PLACE ? unreadable(cause) : damaged(cause);
  }

  /** Gives up the seat; the document is opened again when its next page is wanted. */
  #leave(): void {
    this.#runner?.close();
    this.#runner = null;
    this.#place.seats.give(this.#holder);
  }
}

function damaged(cause?: unknown): PagefleetError {
  return new PagefleetError('document_damaged', 'the document brings down or hangs every reader', { cause });
}

function unreadable(cause: unknown): PagefleetError {
  return new PagefleetError('page_unreadable', 'this page brings down or hangs every reader', { cause });
}
