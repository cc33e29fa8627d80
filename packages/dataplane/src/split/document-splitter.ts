import type { DocumentLimits } from '@pagefleet/engines';
import { Piscina } from 'piscina';
import type { BodyStore } from '../read/body-store.ts';
import type { HeldBytes } from '../read/held-bytes.ts';
import { openChildLine } from './child-line.ts';
import type { PageSource } from './page-source.ts';
import { createSeats } from './seats.ts';
import { createSplitSource } from './split-source.ts';
import type { SplitThreadTask } from './split-thread.ts';
import { openThreadLine } from './thread-line.ts';

export interface DocumentSplitterOptions {
  readonly threads: number;
  readonly store: BodyStore;
}

/** Opens documents of several pages, in threads of their own pool and, if need be, in child processes. */
export interface DocumentSplitter {
  /** Rejects with what is wrong with the document. The source then owns `bytes`; on rejection the caller still does. */
  open(bytes: HeldBytes, limits: DocumentLimits, signal: AbortSignal): Promise<PageSource>;
  close(): Promise<void>;
}

/** A thread whose JavaScript memory grows past this ends; its document gets a child process. */
const THREAD_HEAP_MB = 512;
const CHILDREN = 1;

export function createDocumentSplitter({ threads, store }: DocumentSplitterOptions): DocumentSplitter {
  const pool = new Piscina<SplitThreadTask, void>({
    filename: new URL('./split-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 60_000,
    concurrentTasksPerWorker: 1,
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  // A thread that breaks while it has no task fails nobody, and must not end the process.
  pool.on('error', () => undefined);
  const threadSeats = createSeats(threads);
  const childSeats = createSeats(CHILDREN);

  return {
    open: (bytes, limits, signal) =>
      createSplitSource(bytes, {
        limits,
        store,
        signal,
        places: [
          { seats: threadSeats, open: (task) => openThreadLine(pool, task) },
          { seats: childSeats, open: (task) => openChildLine(task) },
        ],
      }),
    close: () => pool.close({ force: true }),
  };
}
