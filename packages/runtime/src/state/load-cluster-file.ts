import { readFileSync } from 'node:fs';
import { type ClusterFile, PagefleetError } from '@pagefleet/contract';
import { deepFreeze } from '../deep-freeze.ts';
import { clusterPaths } from './cluster-paths.ts';

/** What `pagefleet up` decided, as every supervised program reads it at its start; found by `PAGEFLEET_STATE`. */
export function loadClusterFile(env: NodeJS.ProcessEnv = process.env): ClusterFile {
  const stateDir = env.PAGEFLEET_STATE;
  if (!stateDir) {
    throw new PagefleetError(
      'config_invalid',
      'PAGEFLEET_STATE is not set: this program is started by `pagefleet up`, which sets it to the state directory.',
    );
  }
  const path = clusterPaths(stateDir).clusterFile;
  const file = readCluster(path);
  if (file.v !== 1) {
    throw new PagefleetError(
      'config_invalid',
      `${path} has version ${String(file.v)}; this build reads version 1. Run \`pagefleet up\` again.`,
    );
  }
  return deepFreeze(file as ClusterFile);
}

function readCluster(path: string): { v?: unknown } {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    throw new PagefleetError('config_invalid', `${path} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
  throw new PagefleetError('config_invalid', `${path} does not hold an object.`);
}
