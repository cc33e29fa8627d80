import { isSameProcess, type ProcessIdentity } from '@pagefleet/runtime';
import { decidePodLife, type PodLife } from './decide-pod-life.ts';
import type { PodFolder } from './pod-folder.ts';

export interface ObservedPod {
  readonly life: PodLife;
  /** the process that runs as this pod, identity just checked */
  readonly process: ProcessIdentity | null;
}

/** Reads what is true of a pod now. Throws when that cannot be known. */
export async function observePod(
  folder: PodFolder,
  createdAtMs: number,
  nowMs: number,
): Promise<ObservedPod> {
  // The exit mark is read before the identities: see POD_FILES.
  const ended = (await folder.readExit()) !== null;
  const found = await findProcess(folder);
  const process = found.kind === 'alive' ? found.process : null;
  return { process, life: decidePodLife({ process: found.kind, ended, ageMs: nowMs - createdAtMs }) };
}

export type FoundProcess =
  | { readonly kind: 'alive'; readonly process: ProcessIdentity }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown' };

export async function findProcess(folder: PodFolder): Promise<FoundProcess> {
  const identities = await folder.readIdentities();
  for (const process of identities) {
    if (await isSameProcess(process)) return { kind: 'alive', process };
  }
  return identities.length > 0 ? { kind: 'gone' } : { kind: 'unknown' };
}
