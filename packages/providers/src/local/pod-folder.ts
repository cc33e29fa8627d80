import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PagefleetError, POD_FILES, type PodExit, PodMark } from '@pagefleet/contract';
import type { ProcessIdentity } from '@pagefleet/runtime';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** What was rented; holds no secret. Written once, before anything is started. */
const PodRecord = Type.Object({
  v: Type.Literal(1),
  id: Type.String(),
  name: Type.String(),
  mark: PodMark,
  host: Type.String(),
  createdAtMs: Type.Integer(),
});
export type PodRecord = Static<typeof PodRecord>;

const Identity = Type.Object({ pid: Type.Integer(), startTicks: Type.Integer(), bootId: Type.String() });
const record = Compile(PodRecord);
const identity = Compile(Identity);
const exit = Compile(Type.Object({ v: Type.Literal(1), reason: Type.String(), atMs: Type.Integer() }));

const POD_ID = /^local-[0-9a-f]{8}$/;

export function isPodId(id: string): boolean {
  return POD_ID.test(id);
}

/** Folders that are not pods (half made, half removed) have other names and are no concern of a listing. */
export async function readPodIds(accountDir: string): Promise<string[]> {
  return (await readdir(accountDir)).filter(isPodId);
}

export interface PodFolder {
  readonly dir: string;
  readonly path: (name: keyof typeof POD_FILES) => string;
  exists(): Promise<boolean>;
  /** Throws `provider_failed` when the record is missing or damaged. */
  readRecord(): Promise<PodRecord>;
  /** What is known of the pod's process: by whom started it and by itself; empty when nobody has written yet. */
  readIdentities(): Promise<ProcessIdentity[]>;
  readPort(): Promise<number | null>;
  readExit(): Promise<PodExit | null>;
  /** The first mark stays. Returns the one that is in force. */
  writeExit(reason: string, atMs: number): Promise<PodExit>;
}

export function openPodFolder(accountDir: string, id: string): PodFolder {
  const dir = join(accountDir, id);
  const path = (name: keyof typeof POD_FILES): string => join(dir, POD_FILES[name]);

  async function readExit(): Promise<PodExit | null> {
    const text = await readIfThere(path('exit'));
    if (text === null) return null;
    const value = parseJson(text);
    if (exit.Check(value)) return value;
    // Written on a full disk, or being written now: that the file is there is what counts.
    return { v: 1, reason: 'unknown', atMs: Math.round((await stat(path('exit'))).mtimeMs) };
  }

  return {
    dir,
    path,
    readExit,
    exists: () => isThere(dir),
    async readRecord() {
      const text = await readIfThere(path('record'));
      const value = text === null ? undefined : parseJson(text);
      if (record.Check(value)) return value;
      throw new PagefleetError(
        'provider_failed',
        `the record of pod ${id} is missing or damaged: ${path('record')}`,
      );
    },
    async readIdentities() {
      const known: ProcessIdentity[] = [];
      for (const name of ['spawned', 'process'] as const) {
        const text = await readIfThere(path(name));
        if (text === null) continue;
        const value = parseJson(text);
        if (!identity.Check(value)) {
          throw new PagefleetError('provider_failed', `pod ${id} has a damaged file: ${path(name)}`);
        }
        known.push(value);
      }
      return known;
    },
    async readPort() {
      const port = Number(await readIfThere(path('port')));
      return Number.isInteger(port) && port > 0 ? port : null;
    },
    async writeExit(reason, atMs) {
      const mark: PodExit = { v: 1, reason, atMs };
      try {
        await writeFile(path('exit'), JSON.stringify(mark), { flag: 'wx', mode: 0o600 });
      } catch (error) {
        const before = await readExit();
        if (before === null) throw error;
        return before;
      }
      return mark;
    },
  };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
