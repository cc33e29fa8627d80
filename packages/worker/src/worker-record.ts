import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProcessIdentity, writeFileAtomic } from '@pagefleet/runtime';

/** `<state>/workers/<bootId>.json`: which process an incarnation was, so that its exit can be proven later. */
export interface WorkerRecord {
  readonly v: 1;
  readonly bootId: string;
  readonly worker: number;
  readonly port: number;
  readonly process: ProcessIdentity;
  /** its exit has been seen */
  readonly exitedAtMs?: number;
}

export async function writeRecord(workersDir: string, record: WorkerRecord): Promise<void> {
  await writeFileAtomic(join(workersDir, `${record.bootId}.json`), `${JSON.stringify(record)}\n`);
}

export async function removeRecord(workersDir: string, bootId: string): Promise<void> {
  await rm(join(workersDir, `${bootId}.json`), { force: true });
}

/** The proof must outlive a primary that ends before the controller has heard of it. */
export async function markExited(workersDir: string, bootId: string, exitedAtMs: number): Promise<void> {
  const record = parseRecord(await readFile(join(workersDir, `${bootId}.json`), 'utf8').catch(() => ''));
  if (record) await writeRecord(workersDir, { ...record, exitedAtMs });
}

/** Files that are no record are passed over: a half-written one belongs to a process that never served. */
export async function readRecords(workersDir: string): Promise<WorkerRecord[]> {
  const names = await readdir(workersDir).catch(() => []);
  const records: WorkerRecord[] = [];
  for (const name of names.filter((candidate) => /^[0-9a-f]+\.json$/.test(candidate))) {
    const record = parseRecord(await readFile(join(workersDir, name), 'utf8').catch(() => ''));
    if (record) records.push(record);
  }
  return records;
}

function parseRecord(text: string): WorkerRecord | null {
  try {
    const value = JSON.parse(text) as Partial<WorkerRecord>;
    const { v, bootId, worker, port, process } = value;
    if (v !== 1 || typeof bootId !== 'string' || typeof worker !== 'number' || typeof port !== 'number')
      return null;
    return typeof process?.pid === 'number' ? (value as WorkerRecord) : null;
  } catch {
    return null;
  }
}
