import { readFileSync, rmSync } from 'node:fs';
import { link, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, isSameProcess, observeProcess, type ProcessIdentity } from '@pagefleet/runtime';

const LOCK_POLL_MS = 250;

/** One `up` or `down` at a time on a state directory. The holder's identity is in the file, so a dead one never blocks. */
export async function withStateLock<T>(paths: ClusterPaths, work: () => Promise<T>, waitMs = 0): Promise<T> {
  const file = join(paths.runDir, 'lock');
  await waitForLock(file, waitMs);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

async function waitForLock(file: string, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      return await takeLock(file);
    } catch (error) {
      const isHeld = error instanceof PagefleetError && error.code === 'already_running';
      if (!isHeld || performance.now() >= deadline) throw error;
      await sleep(LOCK_POLL_MS);
    }
  }
}

async function takeLock(file: string): Promise<void> {
  const own = await observeProcess(process.pid);
  const mine = `${file}.${process.pid}`;
  await writeFile(mine, JSON.stringify(own), { mode: 0o600 });
  try {
    for (let tries = 0; tries < 3; tries += 1) {
      if (await wasLinked(mine, file)) return;
      const holder = readHolder(file);
      if (holder && (await isSameProcess(holder))) {
        throw new PagefleetError(
          'already_running',
          `Another pagefleet command (process ${holder.pid}) is starting or stopping this cluster.`,
        );
      }
      rmSync(file, { force: true });
    }
    throw new PagefleetError('already_running', 'Another pagefleet command took the state directory.');
  } finally {
    rmSync(mine, { force: true });
  }
}

/** A link, unlike a write, appears whole or not at all, and only for one of two who try. */
async function wasLinked(mine: string, file: string): Promise<boolean> {
  try {
    await link(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(file: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return null;
  }
}
