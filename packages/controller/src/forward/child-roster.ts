import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Roster, RosterWorker } from '@pagefleet/contract';
import { isSameProcess, type ProcessIdentity } from '@pagefleet/runtime';
import { type PidRecord, readPidRecord } from '../observe/pid-record.ts';

/** An exit is told for as long as a controller may need to hear it; then its record goes too. */
const KEEP_EXITED_MS = 600_000;
/** Worker number of the forwarding child; other numbers are the cluster primary's to tell of. */
export const CHILD_NUMBER = -1;

interface RosterOptions {
  readonly workersDir: string;
  readonly primaryId: string;
  readonly nowMs: () => number;
}

/**
 * The forwarding children there are and were: this controller's, and those of earlier ones, which finish their pages as
 * orphans. Their pid records prove when they are gone.
 */
export class ChildRoster {
  readonly #options: RosterOptions;
  readonly #rows = new Map<string, RosterWorker>();
  readonly #orphans = new Map<string, ProcessIdentity>();
  #seq = 0;

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  /** Before the first roster is told: one that lacks an orphan would give its width away. */
  async recallOrphans(): Promise<string[]> {
    for (const record of await readChildRecords(this.#options.workersDir)) {
      const lives = await isSameProcess(record.process);
      if (lives) this.#orphans.set(record.bootId, record.process);
      this.set({ ...rowOf(record), state: lives ? 'orphan' : 'exited' });
    }
    return [...this.#orphans.keys()];
  }

  /** true: an orphan has gone since the last look */
  async lookAtOrphans(): Promise<boolean> {
    let changed = false;
    for (const [bootId, identity] of this.#orphans) {
      if (await isSameProcess(identity)) continue;
      this.#orphans.delete(bootId);
      const row = this.#rows.get(bootId);
      if (row !== undefined) this.set({ ...row, state: 'exited' });
      changed = true;
    }
    return changed;
  }

  set(row: Omit<RosterWorker, 'sinceMs'>): void {
    this.#rows.set(row.bootId, { ...row, sinceMs: Math.round(this.#options.nowMs()) });
  }

  next(): Roster {
    this.#forget();
    this.#seq += 1;
    const { primaryId, nowMs } = this.#options;
    return {
      v: 1,
      group: 'backup',
      primaryId,
      seq: this.#seq,
      atMs: Math.round(nowMs()),
      workers: [...this.#rows.values()],
    };
  }

  #forget(): void {
    for (const { bootId, state, sinceMs } of this.#rows.values()) {
      if (state !== 'exited' || this.#options.nowMs() - sinceMs < KEEP_EXITED_MS) continue;
      this.#rows.delete(bootId);
      void rm(join(this.#options.workersDir, `${bootId}.json`), { force: true });
    }
  }
}

async function readChildRecords(workersDir: string): Promise<PidRecord[]> {
  const names = await readdir(workersDir).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json'));
  const records = await Promise.all(files.map((name) => readPidRecord(join(workersDir, name))));
  return records.filter((record): record is PidRecord => record?.worker === CHILD_NUMBER);
}

function rowOf(record: PidRecord): Omit<RosterWorker, 'sinceMs' | 'state'> {
  const { bootId, worker, port } = record;
  return { bootId, worker, port, pid: record.process.pid };
}
