import { existsSync } from 'node:fs';
import type { ClusterFile, Config } from '@pagefleet/contract';
import { type ClusterPaths, loadConfig, loadOrCreateSecret, realNodeBinary } from '@pagefleet/runtime';
import { openProvider } from '../fleet/own-provider.ts';
import { type ConfigOptions, loadCliConfig } from './environment.ts';

/**
 * What `down` needs of a cluster whose `run/cluster.json` is lost: enough to end its processes and pods. The controller's
 * address is lost with it, so nothing is drained by it.
 */
export async function rebuildCluster(paths: ClusterPaths, options: ConfigOptions): Promise<ClusterFile> {
  const config = findConfig(paths, options);
  const cluster: ClusterFile = {
    v: 1,
    clusterId: '',
    stateDir: paths.stateDir,
    config,
    ports: { nats: 0, controller: 0, backup: 0, workers: [] },
    natsUrl: '',
    natsCredentialsFile: paths.natsCredentialsFile,
    secretFile: paths.secretFile,
    operatorTokenFile: paths.operatorTokenFile,
    nodeBinary: realNodeBinary(),
  };
  return { ...cluster, clusterId: knownClusterId(paths, config) ?? (await clusterIdOfPods(cluster)) };
}

/** The configuration may be broken as well; then the defaults say how long a page may take. */
function findConfig(paths: ClusterPaths, options: ConfigOptions): Config {
  try {
    return { ...loadCliConfig(options).config, stateDir: paths.stateDir };
  } catch {
    const env = { PAGEFLEET_STATE_DIR: paths.stateDir };
    return loadConfig({ env, cwd: paths.runDir }).config;
  }
}

/** null = no secret says it; none is made for that */
function knownClusterId(paths: ClusterPaths, config: Config): string | null {
  if (!existsSync(paths.secretFile)) return null;
  try {
    return loadOrCreateSecret(paths.secretFile, { keyFile: config.secretKeyFile }).clusterId;
  } catch {
    return null;
  }
}

/** The account lies in the state directory, so the pods in it are this cluster's. */
async function clusterIdOfPods(cluster: ClusterFile): Promise<string> {
  const pods = await openProvider(cluster).list();
  return pods.find(({ mark }) => mark !== null)?.mark?.clusterId ?? '';
}
