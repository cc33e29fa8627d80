import { existsSync } from 'node:fs';
import { type Config, PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, makeFolder, writeFileAtomic } from '@pagefleet/runtime';

/**
 * The cluster's programs read the API key from a file: one in the environment would be inherited by all of them, and by
 * nginx. A key given to `up` in RUNPOD_API_KEY is kept in the state directory (0600), also for a later `down`.
 */
export async function keepApiKey(
  paths: ClusterPaths,
  config: Config,
  env: NodeJS.ProcessEnv,
): Promise<Config> {
  if (config.pools.every(({ provider }) => provider === 'local') || config.runpod.apiKeyFile !== '')
    return config;
  const key = env.RUNPOD_API_KEY?.trim() ?? '';
  if (key !== '') {
    makeFolder(paths.runpodDir, 0o700);
    await writeFileAtomic(paths.runpodKeyFile, `${key}\n`, 0o600);
  } else if (!existsSync(paths.runpodKeyFile)) {
    throw new PagefleetError(
      'config_invalid',
      'A pool rents on RunPod, and no API key is given. Expected: runpod.api_key_file, or RUNPOD_API_KEY in the environment.',
    );
  }
  return { ...config, runpod: { ...config.runpod, apiKeyFile: paths.runpodKeyFile } };
}
