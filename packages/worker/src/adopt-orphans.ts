import { isSameProcess, type Logger, signalProcess } from '@pagefleet/runtime';
import { KEEP_EXITED_MS, type RosterBook } from './roster.ts';
import { readRecords, removeRecord, type WorkerRecord, writeRecord } from './worker-record.ts';

const WATCH_MS = 250;
/**
 * An orphan gives up its port at once and leaves when its pages are done. One that still holds the port after this long is
 * hung, and keeps its successor from serving.
 */
const HUNG_AFTER_MS = 60_000;

export interface OrphanOptions {
  readonly workersDir: string;
  readonly roster: RosterBook;
  readonly logger: Logger;
  onChange(): void;
}

export interface Orphans {
  /** A successor finds its port taken: ends the orphan that holds it, if that has had its time. */
  portTaken(port: number): void;
}

/**
 * Workers of an earlier primary, from their records: the living are orphans until their process is gone, the dead are
 * told as exited, because nobody else can prove it.
 */
export async function adoptOrphans(options: OrphanOptions): Promise<Orphans> {
  const { workersDir, roster, logger, onChange } = options;
  const startedMs = Date.now();
  const alive = new Map<string, WorkerRecord>();

  for (const record of await readRecords(workersDir)) {
    // Number −1 is the controller's child, of which its own parent tells.
    if (record.worker >= 0) await enlist(record);
  }
  if (alive.size > 0) logger.warn({ orphans: [...alive.keys()] }, 'orphans_found');
  const timer = setInterval(() => void watch(), WATCH_MS);
  timer.unref();
  onChange();

  async function enlist(record: WorkerRecord): Promise<void> {
    const { bootId, worker, port } = record;
    const lives = record.exitedAtMs === undefined && (await isSameProcess(record.process));
    if (!lives && (record.exitedAtMs ?? startedMs) < startedMs - KEEP_EXITED_MS) {
      await removeRecord(workersDir, bootId);
      return;
    }
    roster.set({ bootId, worker, port, pid: record.process.pid, state: lives ? 'orphan' : 'exited' });
    if (lives) alive.set(bootId, record);
    else if (record.exitedAtMs === undefined)
      await writeRecord(workersDir, { ...record, exitedAtMs: startedMs });
  }

  async function watch(): Promise<void> {
    for (const [bootId, record] of alive) {
      if (await isSameProcess(record.process)) continue;
      if (!alive.delete(bootId)) continue;
      roster.state(bootId, 'exited');
      logger.info({ bootId }, 'orphan_exited');
      onChange();
      await writeRecord(workersDir, { ...record, exitedAtMs: Date.now() });
    }
  }

  return {
    portTaken(port) {
      if (Date.now() - startedMs < HUNG_AFTER_MS) return;
      for (const record of alive.values()) {
        if (record.port !== port) continue;
        logger.error({ bootId: record.bootId, port }, 'orphan_hung_is_ended');
        void signalProcess(record.process, 'SIGKILL');
      }
    },
  };
}
