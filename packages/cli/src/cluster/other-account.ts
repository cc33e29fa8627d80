import { type ClusterFile, type Config, PagefleetError } from '@pagefleet/contract';
import type { ClusterPaths } from '@pagefleet/runtime';
import { listOwnPods, openProvider } from '../fleet/own-provider.ts';
import { isRehearsal } from '../rehearsal/rehearsal-config.ts';
import { readClusterFile } from './read-cluster-file.ts';

/**
 * Pods are known to be gone by their own account only. So where the configuration names another account than the last life
 * did, that life's must be empty first: otherwise its pods would be forgotten while they bill.
 */
export async function refuseOtherAccount(paths: ClusterPaths, config: Config): Promise<void> {
  const before = readClusterFile(paths);
  if (before === null || accountOf(before.config) === accountOf(config)) return;
  // A pretended cloud that has ended had no pod left.
  if (isRehearsal(before)) return;
  const left = await listLeft(before);
  if (left.length === 0) return;
  throw new PagefleetError(
    'conflict',
    `The provider was changed while pods of the last one are left: ${left.join(', ')}. \`pagefleet down\` ends them: it goes by what the last \`up\` decided.`,
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

function accountOf({ pools, runpod }: Config): string {
  return pools.every(({ provider }) => provider === 'local') ? 'local' : runpod.restUrl;
}
