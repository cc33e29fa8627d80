import { existsSync } from 'node:fs';
import { type ClusterFile, ERRORS } from '@pagefleet/contract';
import { type ClusterPaths, clusterPaths } from '@pagefleet/runtime';
import { accountOf, endNewPods } from '../cluster/end-new-pods.ts';
import { type ConfigOptions, findStateDir } from '../cluster/environment.ts';
import { readGroup } from '../cluster/group.ts';
import { readClusterFile } from '../cluster/read-cluster-file.ts';
import { rebuildCluster } from '../cluster/rebuild-cluster.ts';
import { bringDown } from '../fleet/bring-down.ts';
import { openProvider } from '../fleet/own-provider.ts';
import { reportDown } from '../fleet/report-down.ts';
import { upAgain } from '../rehearsal/rehearsal-config.ts';
import { watchInterrupts } from '../terminal/interrupts.ts';
import { say } from '../terminal/say.ts';
import { requireCluster } from './require-cluster.ts';

export async function down(options: ConfigOptions & { readonly keepPods?: boolean }): Promise<number> {
  const paths = clusterPaths(findStateDir(options));
  const written = readClusterFile(paths);
  const cluster = written ?? (await findLostCluster(paths, options));
  const keepPods = options.keepPods ?? false;
  const { first } = watchInterrupts();
  const work = bringDown(paths, cluster, { keepPods, say, signal: first });
  const outcome = await (keepPods ? work : endNewPods(accountOf(cluster), work, say));
  const code = reportDown(outcome, keepPods, upAgain(cluster));
  if (first.aborted) return ERRORS.interrupted.exitCode;
  return written || keepPods ? code : code || (await reportStrangers(cluster));
}

/** A state directory that was in use, but whose `run/cluster.json` cannot be read: what runs must end all the same. */
async function findLostCluster(paths: ClusterPaths, options: ConfigOptions): Promise<ClusterFile> {
  const isUsed = existsSync(paths.clusterFile) || existsSync(paths.secretFile) || readGroup(paths) !== null;
  if (!isUsed) return requireCluster(options).cluster;
  say(
    `${paths.clusterFile} cannot be read; going by the processes that run and the account in ${paths.accountDir}`,
  );
  return rebuildCluster(paths, options);
}

/** Pods of another cluster's mark in this account: whose they are cannot be told without the file. */
async function reportStrangers(cluster: ClusterFile): Promise<number> {
  const pods = await openProvider(cluster).list();
  if (pods.length === 0) return 0;
  say(
    `${pods.length} pods of another cluster are in the account and were left: ${pods.map(({ id }) => id).join(', ')}`,
  );
  return ERRORS.pods_remain.exitCode;
}
