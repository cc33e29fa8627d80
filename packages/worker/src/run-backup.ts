import type { ClusterFile } from '@pagefleet/contract';
import { newBootId } from './boot-id.ts';
import { createLeaver, leaveOnSignals } from './leaver.ts';
import { BOOT_ID_VARIABLE } from './member-env.ts';
import { runWorker } from './run-worker.ts';

/** The controller's forwarding child: a worker without a group. Its parent names it and publishes its life and exit. */
export async function runBackup(cluster: ClusterFile): Promise<void> {
  const bootId = process.env[BOOT_ID_VARIABLE] || newBootId();
  const running = runWorker({ cluster, worker: -1, port: cluster.ports.backup, bootId });
  const leave = createLeaver(running);
  process.once('disconnect', () => leave(null));
  leaveOnSignals(leave, cluster);
  await running;
  process.send?.({ kind: 'listening', bootId, pid: process.pid, port: cluster.ports.backup });
}
