import { type ClusterFile, type Config, PagefleetError } from '@pagefleet/contract';
import type { ClusterPaths } from '@pagefleet/runtime';
import { listOwnPods, openProvider } from '../fleet/own-provider.ts';
import { isRehearsal, upAgain } from '../rehearsal/rehearsal-config.ts';
import { endRehearsalCloud } from '../rehearsal/running-cloud.ts';
import { withItsCloud } from '../rehearsal/start-rehearsal-cloud.ts';
import { readClusterFile } from './read-cluster-file.ts';

/**
 * Pods are known to be gone by their own account only. So where the configuration names another account than the last life
 * did, that life's must be empty first: otherwise its pods would be forgotten while they bill.
 */
export async function refuseOtherAccount(paths: ClusterPaths, config: Config): Promise<void> {
  const before = readClusterFile(paths);
  if (before === null || accountOf(before) === accountOf({ stateDir: paths.stateDir, config })) return;
  const left = await listLeft(await withItsCloud(paths, before));
  if (left.length === 0) {
    if (isRehearsal(before)) await endRehearsalCloud(paths);
    return;
  }
  throw new PagefleetError(
    'conflict',
    `Pods of the last life are left at another provider: ${left.join(', ')}. \`${upAgain(before)}\` with its configuration takes them over, \`pagefleet down\` ends them.`,
  );
}

async function listLeft(before: ClusterFile): Promise<string[]> {
  const provider = openProvider(before);
  try {
    return (await listOwnPods(provider, before)).map(({ id }) => id);
  } catch (cause) {
    throw new PagefleetError(
      'conflict',
      `The provider was changed, and whether pods of the last one are left cannot be told: ${(cause as Error).message}`,
      { cause },
    );
  } finally {
    await provider.close();
  }
}

function accountOf(life: Pick<ClusterFile, 'stateDir' | 'config'>): string {
  const { pools, runpod } = life.config;
  if (pools.every(({ provider }) => provider === 'local')) return 'local';
  // Its port may be another one at each start.
  return isRehearsal(life) ? 'rehearsal' : runpod.restUrl;
}
