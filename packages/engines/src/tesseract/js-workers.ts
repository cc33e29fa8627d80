import { PagefleetError } from '@pagefleet/contract';
import { createWorker, type Worker, type WorkerOptions } from 'tesseract.js';
import { createPageSlots } from '../page-slots.ts';

export interface JsWorkersOptions {
  readonly size: number;
  readonly languages: readonly string[];
  /** 0 = the old engine, which alone detects orientation; 1 = LSTM, which reads */
  readonly engineMode: 0 | 1;
  readonly worker: Partial<WorkerOptions>;
  /** Workers adapt to earlier pages and their memory may grow, so each is replaced after so many. */
  readonly pagesPerWorker: number;
}

/** One thread of tesseract.js. */
export interface JsWorker {
  readonly api: Worker;
  languages: string;
}

export interface JsWorkers {
  /** Starts every worker. */
  open(): Promise<void>;
  /** Runs the job on a free worker, one at a time; aborting ends the worker's thread and rejects. */
  use<T>(job: (worker: JsWorker) => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

interface LivingWorker extends JsWorker {
  readonly thread: Thread;
  readonly died: Promise<never>;
  pagesDone: number;
}

/**
 * The thread behind a worker, which the package hands out but does not declare. It is ended here and not by the package's
 * `terminate`: after that, what a job still asks of the worker is a rejection inside the package that nobody can catch.
 */
interface Thread {
  terminate(): Promise<unknown>;
  on(event: 'error' | 'exit', listener: (detail: unknown) => void): void;
}

const START_TIMEOUT_MS = 60_000;

/** invariant: idle.length + busy ≤ size; a worker that failed, was aborted or is worn out is never idle again */
export function createJsWorkers(options: JsWorkersOptions): JsWorkers {
  const slots = createPageSlots(options.size);
  let idle: LivingWorker[] = [];

  async function use<T>(job: (worker: JsWorker) => Promise<T>, signal: AbortSignal): Promise<T> {
    const release = await slots.take(signal);
    try {
      const worker = idle.pop() ?? (await startWorker(options));
      return await runOn(worker, job, signal);
    } finally {
      release();
    }
  }

  async function runOn<T>(
    worker: LivingWorker,
    job: (w: JsWorker) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const abort = rejectOnAbort(signal);
    try {
      // A terminated worker never settles its promise, so the job alone must not be waited for.
      const result = await Promise.race([job(worker), worker.died, abort.promise]);
      worker.pagesDone += 1;
      if (worker.pagesDone < options.pagesPerWorker) idle.push(worker);
      else await worker.thread.terminate();
      return result;
    } catch (cause) {
      await worker.thread.terminate();
      throw toError(cause);
    } finally {
      abort.stop();
    }
  }

  return {
    async open() {
      const starts = await Promise.allSettled(
        Array.from({ length: options.size }, () => startWorker(options)),
      );
      const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
      const failed = starts.find((start) => start.status === 'rejected');
      if (failed) {
        await Promise.all(started.map((worker) => worker.thread.terminate()));
        throw failed.reason;
      }
      idle = started;
    },
    use,
    async close() {
      await slots.idle();
      await Promise.all(idle.map((worker) => worker.thread.terminate()));
      idle = [];
    },
  };
}

async function startWorker(options: JsWorkersOptions): Promise<LivingWorker> {
  const api = await createGuarded(options);
  const { worker: thread } = api as unknown as { readonly worker: Thread };
  const died = new Promise<never>((_, reject) => {
    // Without a listener an error in the thread ends the whole process.
    thread.on('error', reject);
    thread.on('exit', (code) =>
      reject(new Error(`the tesseract.js thread ended (exit code ${String(code)})`)),
    );
  });
  died.catch(() => undefined);
  return { api, thread, died, languages: options.languages.join('+'), pagesDone: 0 };
}

/** createWorker reports a missing language only to its error handler and then waits for ever. */
function createGuarded(options: JsWorkersOptions): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new PagefleetError('engine_not_ready', 'tesseract.js did not start in time')),
      START_TIMEOUT_MS,
    );
    // The handler stays for the worker's life: without one every bad picture throws where nobody can catch it.
    const errorHandler = (reason: unknown): void => reject(toError(reason));
    createWorker([...options.languages], options.engineMode, { ...options.worker, errorHandler })
      .then(resolve, (reason: unknown) => reject(toError(reason)))
      .finally(() => clearTimeout(timer));
  });
}

function rejectOnAbort(signal: AbortSignal): { readonly promise: Promise<never>; readonly stop: () => void } {
  let stop = (): void => undefined;
  const promise = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    stop = () => signal.removeEventListener('abort', onAbort);
  });
  promise.catch(() => undefined);
  return { promise, stop };
}

/** tesseract.js rejects with strings. */
function toError(cause: unknown): Error {
  return cause instanceof Error
    ? cause
    : new PagefleetError('engine_failed', `tesseract.js: ${String(cause)}`, { cause });
}
