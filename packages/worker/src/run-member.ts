import cluster from 'node:cluster';
import { type ClusterFile, PagefleetError } from '@pagefleet/contract';
import { createLeaver, leaveOnSignals } from './leaver.ts';
import { BOOT_ID_VARIABLE, WORKER_VARIABLE } from './member-env.ts';
import { runWorker } from './run-worker.ts';
import { type FromWorker, parseToWorker } from './worker-messages.ts';

/** One worker of the group. It outlives its primary: then it stops accepting, finishes and exits. */
export async function runMember(clusterFile: ClusterFile): Promise<void> {
  // Without this Node ends a worker at once when its primary is gone, with every page that is open in it.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  const worker = Number(process.env[WORKER_VARIABLE]);
  const bootId = process.env[BOOT_ID_VARIABLE];
  const port = clusterFile.ports.workers[worker];
  if (!bootId || port === undefined) {
    throw new PagefleetError(
      'config_invalid',
      `there is no worker "${process.env[WORKER_VARIABLE]}" in cluster.json`,
    );
  }
  const running = runWorker({
    cluster: clusterFile,
    worker,
    port,
    bootId,
    onPortTaken: () => tell({ kind: 'port_taken' }),
  });
  const leave = createLeaver(running);
  process.once('disconnect', () => leave(null));
  process.on('message', (message) => {
    const told = parseToWorker(message);
    if (told?.kind === 'ping') tell({ kind: 'pong' });
    if (told?.kind === 'leave') leave(told.deadlineMs);
  });
  leaveOnSignals(leave, clusterFile);
  await running;
  tell({ kind: 'listening' });
}

function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
