import cluster from 'node:cluster';
import { loadClusterFile } from '@pagefleet/runtime';
import { runBackup } from './run-backup.ts';
import { runMember } from './run-member.ts';
import { runPrimary } from './run-primary.ts';

/**
 * Program: the forwarding processes. Without arguments the primary of `config.workers` processes; a member when it was
 * forked by one; with `--backup` the one process of the controller.
 */
const clusterFile = loadClusterFile();
if (process.argv.includes('--backup')) await runBackup(clusterFile);
else if (cluster.isPrimary) await runPrimary(clusterFile);
else await runMember(clusterFile);
