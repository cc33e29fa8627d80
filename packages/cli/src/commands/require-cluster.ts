import { existsSync } from 'node:fs';
import { type ClusterFile, PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, clusterPaths } from '@pagefleet/runtime';
import { type ConfigOptions, findStateDir } from '../cluster/environment.ts';
import { readClusterFile } from '../cluster/read-cluster-file.ts';

/** The cluster that was last brought up on the state directory the flags name. */
export function requireCluster(options: ConfigOptions): { paths: ClusterPaths; cluster: ClusterFile } {
  const paths = clusterPaths(findStateDir(options));
  const cluster = readClusterFile(paths);
  if (!cluster && existsSync(paths.clusterFile)) {
    throw new PagefleetError(
      'config_invalid',
      `${paths.clusterFile} is damaged or of another version: the cluster cannot be asked. \`pagefleet down\` ends what runs, \`pagefleet up\` writes it anew.`,
    );
  }
  if (!cluster) {
    throw new PagefleetError(
      'not_found',
      `No cluster was ever up on ${paths.stateDir}. Start one with \`pagefleet up\`, or name its state directory with --state.`,
    );
  }
  return { paths, cluster };
}
