import { type ClusterFile, type Config, PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, clusterPaths, observeNginxBox, sizeNginx } from '@pagefleet/runtime';
import { rehearsalConfig } from '../rehearsal/rehearsal-config.ts';
import { endRehearsalCloud } from '../rehearsal/running-cloud.ts';
import { startRehearsalCloud } from '../rehearsal/start-rehearsal-cloud.ts';
import { requireFreeEndpoint } from './choose-ports.ts';
import { endSession } from './end-session.ts';
import { endpointUrl } from './endpoint.ts';
import { readGroup, readGroupFile, runningGroup, startGroup } from './group.ts';
import { refuseOtherAccount } from './other-account.ts';
import { prepareCluster } from './prepare-cluster.ts';
import { readClusterFile } from './read-cluster-file.ts';
import { observeSession } from './session.ts';
import { makeStateDir } from './state-dir.ts';
import { withStateLock } from './up-lock.ts';

/** Leftovers without a supervisor finish what they hold, but nobody waits for a page of ten minutes to start anew. */
const LEFTOVER_PATIENCE_MS = 30_000;

export interface StartOptions {
  readonly say: (line: string) => void;
  /** every pool rents from a pretended RunPod on this machine */
  readonly rehearse: boolean;
}

/**
 * Makes the state directory, ends what a killed supervisord left, writes the files and starts the group; refuses a cluster
 * that runs.
 */
export async function startCluster(given: Config, { say, rehearse }: StartOptions): Promise<ClusterFile> {
  // Where nothing of ours can hold the port, a refusal comes before the disk is touched.
  if (readGroup(clusterPaths(given.stateDir)) === null) await requireFreeEndpoint(given.listen);
  const paths = makeStateDir(given.stateDir);
  return withStateLock(paths, async () => {
    await refuseRunning(paths);
    await endLeftovers(paths, say);
    await requireFreeEndpoint(given.listen);
    const cluster = await (rehearse ? startRehearsal(paths, given) : startOnAccount(paths, given));
    for (const line of describeSizes(cluster.config)) say(line);
    return cluster;
  });
}

/** A pretended cloud without a cluster would be nobody's to end; its table is on disk, and who needs it starts it again. */
async function startRehearsal(paths: ClusterPaths, given: Config): Promise<ClusterFile> {
  try {
    return await startOnAccount(paths, rehearsalConfig(given, await startRehearsalCloud(paths)));
  } catch (error) {
    await endRehearsalCloud(paths);
    throw error;
  }
}

async function startOnAccount(paths: ClusterPaths, config: Config): Promise<ClusterFile> {
  await refuseOtherAccount(paths, config);
  return startFromFiles(paths, config);
}

async function startFromFiles(paths: ClusterPaths, config: Config): Promise<ClusterFile> {
  try {
    const cluster = await prepareCluster(paths, config);
    await startGroup(paths);
    return cluster;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw cause;
    throw new PagefleetError(
      'conflict',
      `The disk of ${paths.stateDir} is full: ${(cause as Error).message}. Make room and run \`pagefleet up\` again.`,
      { cause },
    );
  }
}

async function refuseRunning(paths: ClusterPaths): Promise<void> {
  const group = await runningGroup(paths);
  if (!group) return;
  const cluster = readClusterFile(paths);
  const where = cluster ? ` at ${endpointUrl(cluster)}` : '';
  throw new PagefleetError(
    'already_running',
    `A cluster already runs on ${paths.stateDir}${where} (supervisord is process ${group.pid}). ${whatToDo(paths, cluster)}`,
  );
}

function whatToDo(paths: ClusterPaths, cluster: ClusterFile | null): string {
  const lost = [
    ...(readGroupFile(paths) === null ? [paths.groupFile] : []),
    ...(cluster === null ? [paths.clusterFile] : []),
  ];
  if (lost.length === 0) return '`pagefleet status` shows it, `pagefleet down` ends it.';
  return `${lost.join(' and ')} cannot be read; \`pagefleet down\` ends the cluster without, and \`pagefleet up\` writes it anew.`;
}

async function endLeftovers(paths: ClusterPaths, say: (line: string) => void): Promise<void> {
  const group = readGroup(paths);
  if (!group) return;
  const left = await observeSession(group);
  if (left.length === 0) return;
  say(`ending ${left.length} processes that a killed supervisord left`);
  await endSession(group, { patienceMs: LEFTOVER_PATIENCE_MS, say });
}

/** What the front door holds, and what of it the machine did not allow. */
function describeSizes(config: Config): string[] {
  const { workerProcesses, workerConnections, backlog, clamped } = sizeNginx(config, observeNginxBox());
  return [
    `nginx: ${workerProcesses} processes of ${workerConnections} connections, backlog ${backlog}, for ${config.limits.maxInFlight} pages in flight`,
    ...clamped.map((what) => `nginx: ${what}`),
  ];
}
