import type { ClusterFile } from '@pagefleet/contract';
import type { RunningWorker } from './run-worker.ts';

/** Ends this process in order, also while it is still starting: then it has served nothing and goes at once. */
export type Leaver = (deadlineMs: number | null) => void;

export function createLeaver(running: Promise<RunningWorker>): Leaver {
  let worker: RunningWorker | null = null;
  void running.then((started) => {
    worker = started;
  });
  return (deadlineMs) => {
    if (worker) worker.leave(deadlineMs);
    else process.exit(0);
  };
}

/** SIGTERM and SIGINT: finish what is open, for one page deadline at most. SIGHUP is the primary's business. */
export function leaveOnSignals(leave: Leaver, { config }: ClusterFile): void {
  const stop = (): void => leave(config.limits.pageDeadlineMs);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => undefined);
}
