import { readFile } from 'node:fs/promises';
import type { RosterWorker } from '@pagefleet/contract';
import { isSameProcess, type ProcessIdentity } from '@pagefleet/runtime';
import type { WorkerBook } from './worker-book.ts';

/**
 * For workers that no primary vouches for any more (it died with them, or the forwarding child of a dead controller): their
 * pid record says which process they were, and that process is gone. Without a record nothing is proven.
 */
export async function proveExits(
  book: WorkerBook,
  options: { readonly recordFile: (bootId: string) => string; readonly nowMs: () => number },
): Promise<string[]> {
  const proven: string[] = [];
  for (const { bootId } of book.unlisted()) {
    const identity = await readIdentity(options.recordFile(bootId));
    if (identity === null || (await isSameProcess(identity))) continue;
    if (book.markExited(bootId, options.nowMs())) proven.push(bootId);
  }
  return proven;
}

interface PidRecord {
  readonly v: 1;
  readonly bootId: string;
  readonly worker: number;
  readonly port: number;
  readonly process: ProcessIdentity;
}

async function readIdentity(file: string): Promise<ProcessIdentity | null> {
  return (await readPidRecord(file))?.process ?? null;
}

export async function readPidRecord(file: string): Promise<PidRecord | null> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as Partial<PidRecord> | null;
    return typeof value?.process?.pid === 'number' ? (value as PidRecord) : null;
  } catch {
    return null;
  }
}

/** The worker a pid record tells of, as a roster would list it. */
export function workerOfRecord(record: PidRecord, nowMs: number): RosterWorker {
  const { bootId, worker, port } = record;
  return { bootId, worker, pid: record.process.pid, port, state: 'orphan', sinceMs: Math.round(nowMs) };
}
