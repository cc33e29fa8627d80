import type { Report } from '@pagefleet/contract';
import type { Bus, Logger } from '@pagefleet/runtime';
import { proveExits } from './prove-exits.ts';
import type { WorkerBook } from './worker-book.ts';

interface WatchOptions {
  readonly bus: Bus;
  readonly book: WorkerBook;
  readonly recordFile: (bootId: string) => string;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** a worker came, went or changed its state */
  readonly onRoster: () => void;
  /** a report tells of something a pass should look at now */
  readonly onNews: () => void;
}

const PROVE_EXITS_MS = 2_000;

/** Keeps the book of workers: rosters and reports from the bus, proofs of exit from pid records. */
export function watchWorkers(options: WatchOptions): () => void {
  const { bus, book, recordFile, logger, nowMs } = options;
  const offRoster = bus.subscribe('roster', (_group, roster) => {
    if (book.takeRoster(roster)) options.onRoster();
  });
  const offReport = bus.subscribe('report', (_bootId, report) => {
    if (book.takeReport(report, nowMs()) && isNews(report)) options.onNews();
  });
  const timer = setInterval(async () => {
    book.sweep(nowMs());
    const proven = await proveExits(book, { recordFile, nowMs });
    if (proven.length > 0) logger.info({ workers: proven }, 'workers_proven_gone');
  }, PROVE_EXITS_MS);
  return () => {
    offRoster();
    offReport();
    clearInterval(timer);
  };
}

/** A suspicion, or pages that wait. */
function isNews(report: Report): boolean {
  const isWaiting = Object.values(report.pools).some(
    (pool) => pool.waiting + pool.unsplit + pool.refused > 0,
  );
  return isWaiting || Object.values(report.pods).some((pod) => pod.suspect !== undefined);
}
