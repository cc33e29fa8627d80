import cluster from 'node:cluster';
import { loadClusterFile } from '@pagefleet/runtime';

/**
 * Program: the forwarding processes. Without arguments the primary of `config.workers` processes; a member when it was
 * forked by one; with `--backup` the one process of the controller. Each loads only what it needs: the primary never
 * sees a page.
 */
const clusterFile = loadClusterFile();
if (process.argv.includes('--backup')) {
  const { runBackup } = await import('./run-backup.ts');
  await runBackup(clusterFile);
} else if (cluster.isPrimary) {
  const { runPrimary } = await import('./run-primary.ts');
  await runPrimary(clusterFile);
} else {
  const { runMember } = await import('./run-member.ts');
  await runMember(clusterFile);
}
