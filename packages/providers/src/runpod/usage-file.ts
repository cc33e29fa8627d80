import { appendFile, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { API_NAMES, type ApiName } from './api-call.ts';

/** What one process did or learnt and every process that uses the account from this machine must know. */
export type UsageEntry = { readonly api: ApiName; readonly atMs: number } & (
  | { readonly kind: 'call'; readonly operation: string }
  | { readonly kind: 'ban'; readonly untilMs: number }
);

export interface UsageFile {
  append(entry: UsageEntry): Promise<void>;
  /** What all processes wrote since the last time, this one included. */
  readNew(): Promise<UsageEntry[]>;
}

const HOUR_MS = 3_600_000;
/** Calls matter for an hour and bans for six; the hour in which they were written has begun before. */
const KEPT_HOURS = { calls: 1, bans: 6 } as const;
const FILE = /^(calls|bans)-(\d{1,9})$/;
const LINE = /^(\d{1,15}) ([a-z]+) (call|ban) ([a-z0-9-]{1,40})$/;
const CHUNK_BYTES = 64 * 1_024;

/**
 * A file for each hour, to which every process appends whole lines without a lock, so nothing is ever rewritten under a
 * reader. Old hours are unlinked by whoever comes by. A line begins with a line break too: what a killed process leaves
 * half written spoils no line but its own. The folder is the caller's to make.
 */
export function openUsageFile(dir: string, nowMs: () => number): UsageFile {
  const offsets = new Map<string, number>();

  async function append(entry: UsageEntry): Promise<void> {
    const name = `${entry.kind === 'ban' ? 'bans' : 'calls'}-${Math.floor(entry.atMs / HOUR_MS)}`;
    const what = entry.kind === 'ban' ? entry.untilMs : entry.operation;
    const line = `\n${entry.atMs} ${entry.api} ${entry.kind} ${what}\n`;
    await appendFile(join(dir, name), line, { mode: 0o600 });
  }

  async function readNew(): Promise<UsageEntry[]> {
    const entries: UsageEntry[] = [];
    for (const name of await readdir(dir).catch(ignoreAbsence)) {
      const [, kind, hour] = FILE.exec(name) ?? [];
      if (kind === undefined) continue;
      const age = Math.floor(nowMs() / HOUR_MS) - Number(hour);
      if (age > KEPT_HOURS[kind as keyof typeof KEPT_HOURS]) {
        offsets.delete(name);
        await unlink(join(dir, name)).catch(ignoreAbsence);
        continue;
      }
      const { text, toByte } = await readFrom(join(dir, name), offsets.get(name) ?? 0);
      offsets.set(name, toByte);
      for (const line of text.split('\n')) {
        const entry = parseLine(line);
        if (entry !== null) entries.push(entry);
      }
    }
    return entries;
  }

  return { append, readNew };
}

/** Whole lines only; the rest is read again when it has been written to its end. */
async function readFrom(path: string, fromByte: number): Promise<{ text: string; toByte: number }> {
  const file = await open(path, 'r').catch(ignoreAbsence);
  // Its hour is over, and another process was quicker to remove it.
  if (Array.isArray(file)) return { text: '', toByte: fromByte };
  try {
    const parts: Buffer[] = [];
    for (let at = fromByte; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at);
      if (bytesRead === 0) break;
      parts.push(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    const bytes = Buffer.concat(parts);
    const end = bytes.lastIndexOf('\n') + 1;
    return { text: bytes.toString('latin1', 0, end), toByte: fromByte + end };
  } finally {
    await file.close();
  }
}

function parseLine(line: string): UsageEntry | null {
  const [, at, name, kind, what = ''] = LINE.exec(line) ?? [];
  const api = API_NAMES.find((one) => one === name);
  if (api === undefined) return null;
  const atMs = Number(at);
  if (kind === 'call') return { api, atMs, kind, operation: what };
  return /^\d+$/.test(what) ? { api, atMs, kind: 'ban', untilMs: Number(what) } : null;
}

function ignoreAbsence(error: unknown): never[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
