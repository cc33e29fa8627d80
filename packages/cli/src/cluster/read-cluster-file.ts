import type { ClusterFile } from '@pagefleet/contract';
import { type ClusterPaths, loadClusterFile } from '@pagefleet/runtime';

/** What the last `up` decided; null when there was none on this state directory, or by another version. */
export function readClusterFile(paths: ClusterPaths): ClusterFile | null {
  try {
    return loadClusterFile({ PAGEFLEET_STATE: paths.stateDir });
  } catch {
    return null;
  }
}
