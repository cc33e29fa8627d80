import { readFile, rm } from 'node:fs/promises';
import { isSameProcess, observeProcess, type ProcessIdentity, writeFileAtomic } from '@pagefleet/runtime';
import { endGroup } from './process-group.ts';

/** Which model server runs for this pod, on disk, so that its next gateway finds one that was left behind. */
export interface ServerRecord {
  /** Ends the server of an earlier gateway of this pod, if it still runs. True: there was one. */
  endLeftover(): Promise<boolean>;
  write(pid: number): Promise<void>;
  remove(): Promise<void>;
}

const LEFTOVER_GRACE_MS = 2_000;

/** `file` null: the pod has no folder, and nothing survives the container that it is. */
export function createServerRecord(file: string | null): ServerRecord {
  return {
    async endLeftover() {
      const left = file === null ? null : await readIdentity(file);
      if (left === null || !(await isSameProcess(left))) return false;
      await endGroup(left.pid, LEFTOVER_GRACE_MS);
      return true;
    },
    async write(pid) {
      const identity = file === null ? null : await observeProcess(pid);
      if (file !== null && identity !== null) await writeFileAtomic(file, JSON.stringify(identity));
    },
    async remove() {
      if (file !== null) await rm(file, { force: true });
    },
  };
}

/** Null for a file that is absent or not ours: it names nobody. */
async function readIdentity(file: string): Promise<ProcessIdentity | null> {
  try {
    const { pid, startTicks, bootId } = JSON.parse(await readFile(file, 'utf8'));
    const isWhole =
      Number.isSafeInteger(pid) && Number.isSafeInteger(startTicks) && typeof bootId === 'string';
    return isWhole ? { pid, startTicks, bootId } : null;
  } catch {
    return null;
  }
}
