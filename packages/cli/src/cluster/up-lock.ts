import { readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, isSameProcess, observeProcess, type ProcessIdentity } from '@pagefleet/runtime';

const LOCK_POLL_MS = 250;
const TRIES = 3;

/**
 * One `up` or `down` at a time on a state directory. The lock is a symbolic link whose target is the holder's identity: it
 * appears whole or not at all, only for one of two who try, and takes no space on a full disk. A dead holder never blocks.
 */
export async function withStateLock<T>(paths: ClusterPaths, work: () => Promise<T>, waitMs = 0): Promise<T> {
  const file = join(paths.runDir, 'lock');
  const mine = await waitForLock(file, waitMs);
  try {
    removeLeftovers(paths.runDir);
    return await work();
  } finally {
    if (readTarget(file) === mine) rmSync(file, { force: true });
  }
}

async function waitForLock(file: string, waitMs: number): Promise<string> {
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

async function takeLock(file: string): Promise<string> {
  const own = await observeProcess(process.pid);
  const mine = `${process.pid}:${own?.startTicks ?? 0}:${own?.bootId ?? ''}`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (wasLinked(mine, file)) return mine;
    const target = readTarget(file);
    const holder = target === null ? null : parseHolder(target);
    if (holder && (await isSameProcess(holder))) throw heldBy(holder);
    removeStale(file, target);
  }
  throw heldBy(null);
}

function heldBy(holder: ProcessIdentity | null): PagefleetError {
  const who = holder ? ` (process ${holder.pid})` : '';
  const orEnd = holder ? `; if it hangs, end it with \`kill ${holder.pid}\`` : '';
  return new PagefleetError(
    'already_running',
    `Another pagefleet command${who} is starting or stopping this cluster. Wait until it has ended and try again${orEnd}.`,
  );
}

function wasLinked(mine: string, file: string): boolean {
  try {
    symlinkSync(mine, file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // Where there is no room even for a name, no other command gets one either, and an end must go through.
    if (code === 'ENOSPC' || code === 'EDQUOT') return true;
    throw error;
  }
}

/** Moved aside first: between the look and the removal another command may have put its own lock there. */
function removeStale(file: string, target: string | null): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readTarget(aside);
  if (moved !== null && moved !== target) wasLinked(moved, file);
  rmSync(aside, { force: true });
}

/** `lock.<pid>` of commands that were killed. */
function removeLeftovers(runDir: string): void {
  for (const name of readdirSync(runDir)) {
    if (/^lock\.\d+$/.test(name)) rmSync(join(runDir, name), { force: true });
  }
}

/** null = none, or not a link */
function readTarget(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch {
    return null;
  }
}

function parseHolder(target: string): ProcessIdentity | null {
  const match = /^(\d+):(\d+):(.*)$/s.exec(target);
  if (!match) return null;
  return { pid: Number(match[1]), startTicks: Number(match[2]), bootId: match[3] ?? '' };
}
