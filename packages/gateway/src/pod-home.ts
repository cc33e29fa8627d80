import { fstat } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { POD_FILES, type PodExit } from '@pagefleet/contract';
import { observeProcess, writeFileAtomic } from '@pagefleet/runtime';

/** The folder of a local pod in its account; the rules between its writers are at `POD_FILES`. */
export interface PodHome {
  readonly dir: string;
  /** Writes down which process this is. False: the pod was ended before it started, so it must not serve. */
  announce(): Promise<boolean>;
  writePort(port: number): Promise<void>;
  writeExit(reason: string): Promise<void>;
  /** False when somebody removed the folder: nobody can find this pod any more. */
  isThere(): Promise<boolean>;
  /** Where our standard output goes, if that is the folder's own log. */
  ownLog(): Promise<string | null>;
}

/** Null for a pod that has no folder: in a container, whose end is its provider's to notice. */
export function openPodHome(portFile: string): PodHome | null {
  if (portFile === '') return null;
  const dir = dirname(portFile);
  const path = (name: keyof typeof POD_FILES): string => join(dir, POD_FILES[name]);

  return {
    dir,
    async announce() {
      const identity = await observeProcess(process.pid);
      await writeFileAtomic(path('process'), JSON.stringify(identity));
      return !(await exists(path('exit')));
    },
    writePort: (port) => writeFileAtomic(portFile, String(port)),
    async writeExit(reason) {
      const mark: PodExit = { v: 1, reason, atMs: Date.now() };
      await writeFile(path('exit'), JSON.stringify(mark), { flag: 'wx', mode: 0o600 }).catch(() => undefined);
    },
    isThere: () => exists(path('process')),
    async ownLog() {
      const [output, log] = await Promise.all([promisify(fstat)(1), stat(path('log')).catch(() => null)]);
      return log?.isFile() && log.ino === output.ino && log.dev === output.dev ? path('log') : null;
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
