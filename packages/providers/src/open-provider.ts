import type { ClusterFile } from '@pagefleet/contract';
import { PagefleetError } from '@pagefleet/contract';
import { clusterPaths, type Logger, readPrivateFile } from '@pagefleet/runtime';
import { createLocalProvider } from './local/create-local-provider.ts';
import type { Provider } from './port.ts';
import { createRunpodProvider } from './runpod/create-runpod-provider.ts';

/**
 * The account from which a cluster rents: one for all its pools. Reads the API key, so it throws `config_invalid` where the
 * key's file cannot be read or may be read by others.
 */
export function openProvider(cluster: ClusterFile, logger: Logger): Provider {
  const paths = clusterPaths(cluster.stateDir);
  const { pools, runpod } = cluster.config;
  if (pools.every(({ provider }) => provider === 'local')) {
    return createLocalProvider({ accountDir: paths.accountDir, nodeBinary: cluster.nodeBinary, logger });
  }
  return createRunpodProvider({
    apiKey: readApiKey(runpod.apiKeyFile),
    restUrl: runpod.restUrl,
    graphqlUrl: runpod.graphqlUrl,
    graphqlHourlyBudget: runpod.graphqlHourlyBudget,
    stateDir: paths.runpodDir,
    logger,
  });
}

/** Throws `config_invalid`, with what to do, where the file is missing, empty, or open to others. */
export function readApiKey(file: string): string {
  const key = readKeyFile(file).trim();
  if (/^[\x21-\x7e]{8,}$/.test(key)) return key;
  throw new PagefleetError(
    'config_invalid',
    `${file} does not hold an API key: one line of printable characters.`,
  );
}

function readKeyFile(file: string): string {
  try {
    return readPrivateFile(file);
  } catch (cause) {
    if (cause instanceof PagefleetError) throw cause;
    throw new PagefleetError('config_invalid', `The API key cannot be read: ${(cause as Error).message}.`, {
      cause,
    });
  }
}
