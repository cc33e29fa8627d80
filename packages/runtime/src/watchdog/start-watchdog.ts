import { Worker } from 'node:worker_threads';
import type { Logger } from '../logger.ts';
import type { WatchdogData } from './watchdog-data.ts';

export interface WatchdogOptions {
  readonly name: string;
  /** silence of the loop after which its stack is printed */
  readonly stallMs: number;
  /** pause between further stacks of the same silence; 30 s if left out */
  readonly repeatMs?: number;
  /** silence after which the process ends itself: hung is worse than dead */
  readonly fatalMs: number;
  readonly logger: Logger;
}

const MAX_REPORTS_PER_HOUR = 20;

/**
 * Watches this thread's event loop from a thread of its own, which prints to standard error because the logger
 * belongs to the blocked thread. Neither the thread nor the beat keeps the process alive.
 */
export function startWatchdog(options: WatchdogOptions): { stop(): void } {
  const { name, stallMs, fatalMs, logger, repeatMs = 30_000 } = options;
  const beats = new SharedArrayBuffer(4);
  const counter = new Int32Array(beats);
  const timer = setInterval(() => Atomics.add(counter, 0, 1), Math.max(10, Math.min(250, stallMs / 4)));
  timer.unref();

  const workerData: WatchdogData = {
    name,
    stallMs,
    repeatMs,
    fatalMs,
    maxReportsPerHour: MAX_REPORTS_PER_HOUR,
    beats,
  };
  // execArgv is emptied: flags of the program, such as a heap limit or a loader, are not for this thread.
  const worker = new Worker(new URL('./watchdog-thread.ts', import.meta.url), { workerData, execArgv: [] });
  worker.unref();
  worker.on('error', (err) => logger.error({ err }, 'watchdog_failed'));

  return {
    stop() {
      clearInterval(timer);
      void worker.terminate();
    },
  };
}
