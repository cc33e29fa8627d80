import { readFile } from 'node:fs/promises';
import type { ProcessIdentity } from '@pagefleet/runtime';

/** `<state>/workers/<bootId>.json`, written by each forwarding process about itself before it serves. */
export interface PidRecord {
  readonly v: 1;
  readonly bootId: string;
  readonly worker: number;
  readonly port: number;
  readonly process: ProcessIdentity;
}

/** null: there is none, or it is half written and belongs to a process that never served */
export async function readPidRecord(file: string): Promise<PidRecord | null> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as Partial<PidRecord> | null;
    return typeof value?.process?.pid === 'number' ? (value as PidRecord) : null;
  } catch {
    return null;
  }
}
