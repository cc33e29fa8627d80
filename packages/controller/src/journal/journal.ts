import { join } from 'node:path';
import { encodeHeader, encodeLine, encodeSnapshot, parseLines, parseSnapshot } from './journal-format.ts';
import { type JournalFs, type JournalHandle, realJournalFs } from './journal-fs.ts';

type JournalNote =
  | { readonly kind: 'torn_end_dropped'; readonly bytes: number }
  | { readonly kind: 'damaged_set_aside'; readonly file: string }
  | { readonly kind: 'not_writable'; readonly cause: unknown };

type AppendOutcome = { readonly kind: 'stored' } | { readonly kind: 'failed'; readonly cause: unknown };

interface JournalOptions {
  /** the controller's folder; it exists */
  readonly folder: string;
  /** all that the entries so far amount to, as plain JSON; asked for whenever the journal is compacted */
  readonly takeSnapshot: () => unknown;
  readonly note: (note: JournalNote) => void;
  readonly compactAfterLines?: number;
  readonly fs?: JournalFs;
}

const COMPACT_AFTER_BYTES = 8 * 1_024 * 1_024;

/**
 * What money hangs on (DESIGN 10): one writer, one file, NDJSON, newest state = snapshot + the lines behind it.
 *
 *     snapshot.json {v, seq, state}        journal.ndjson {v} {seq, entry} {seq, entry} …
 *
 * Compaction renames a new snapshot into place, then an empty journal. A crash in between leaves lines the snapshot already
 * holds; their `seq` says so. After a failed write the next one starts with a compaction, because memory is ahead of the disk.
 * Used from the owner's mailbox only: a snapshot taken while another task is half done would miss what that task stored.
 */
export interface Journal {
  /** what the last life left behind, oldest first; `snapshot` is null when there was none */
  readonly recovered: { readonly snapshot: unknown; readonly entries: readonly unknown[] };
  /** durable: on disk (fdatasync) before it resolves */
  append(entry: unknown, durability: 'durable' | 'lazy'): Promise<AppendOutcome>;
  compact(): Promise<AppendOutcome>;
  needsCompaction(): boolean;
  /** false after a write failed (full disk), until one succeeds */
  writable(): boolean;
  close(): Promise<void>;
}

export async function openJournal(options: JournalOptions): Promise<Journal> {
  const journal = new OpenJournal(options);
  await journal.open();
  return journal;
}

class OpenJournal implements Journal {
  recovered: Journal['recovered'] = { snapshot: null, entries: [] };
  readonly #options: JournalOptions;
  readonly #fs: JournalFs;
  readonly #file: string;
  readonly #snapshotFile: string;
  readonly #compactAfterLines: number;
  #handle: JournalHandle | null = null;
  #seq = 0;
  #position = 0;
  #linesSinceSnapshot = 0;
  #failed = false;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#fs = options.fs ?? realJournalFs;
    this.#file = join(options.folder, 'journal.ndjson');
    this.#snapshotFile = join(options.folder, 'snapshot.json');
    this.#compactAfterLines = options.compactAfterLines ?? 2_000;
  }

  async open(): Promise<void> {
    const snapshotBytes = await this.#fs.read(this.#snapshotFile);
    const snapshot = snapshotBytes === null ? null : parseSnapshot(snapshotBytes);
    if (snapshotBytes !== null && snapshot === null) await this.#setAside(this.#snapshotFile);
    const bytes = (await this.#fs.read(this.#file)) ?? Buffer.alloc(0);
    const read = parseLines(bytes);
    const fresh = read.lines.filter((line) => line.seq > (snapshot?.seq ?? 0));
    this.recovered = { snapshot: snapshot?.state ?? null, entries: fresh.map((line) => line.entry) };
    this.#seq = Math.max(snapshot?.seq ?? 0, read.lines.at(-1)?.seq ?? 0);
    this.#linesSinceSnapshot = fresh.length;
    if (read.rest === 'torn') {
      this.#options.note({ kind: 'torn_end_dropped', bytes: bytes.length - read.goodBytes });
    }
    if (read.rest === 'damaged') {
      // The readable part is known; the rest is kept for people, and the first write makes a whole new pair of files.
      await this.#setAside(this.#file);
      this.#failed = true;
    }
    this.#position = read.rest === 'damaged' ? 0 : read.goodBytes;
    try {
      this.#handle = await this.#fs.openForWriting(this.#file);
      if (read.rest === 'torn') await this.#handle.truncate(this.#position);
    } catch (cause) {
      // Known is what could be read; a disk that cannot be written stops renting, nothing else.
      this.#failed = true;
      this.#options.note({ kind: 'not_writable', cause });
    }
  }

  append(entry: unknown, durability: 'durable' | 'lazy'): Promise<AppendOutcome> {
    return this.#inTurn(async () => {
      if (this.#failed) await this.#writeSnapshotAndJournal();
      await this.#writeLine(entry, durability);
    });
  }

  compact(): Promise<AppendOutcome> {
    return this.#inTurn(() => this.#writeSnapshotAndJournal());
  }

  needsCompaction(): boolean {
    return this.#linesSinceSnapshot >= this.#compactAfterLines || this.#position >= COMPACT_AFTER_BYTES;
  }

  writable(): boolean {
    return !this.#failed;
  }

  async close(): Promise<void> {
    await this.#tail;
    await this.#handle?.datasync().catch(() => undefined);
    await this.#handle?.close();
    this.#handle = null;
  }

  #inTurn(step: () => Promise<void>): Promise<AppendOutcome> {
    const turn = this.#tail.then(async (): Promise<AppendOutcome> => {
      try {
        await step();
        this.#failed = false;
        return { kind: 'stored' };
      } catch (cause) {
        this.#failed = true;
        return { kind: 'failed', cause };
      }
    });
    this.#tail = turn;
    return turn;
  }

  async #writeLine(entry: unknown, durability: 'durable' | 'lazy'): Promise<void> {
    const handle = this.#openHandle();
    const line = encodeLine(this.#seq + 1, entry);
    const data = this.#position === 0 ? Buffer.concat([encodeHeader(), line]) : line;
    await handle.write(data, this.#position);
    if (durability === 'durable') await handle.datasync();
    this.#position += data.length;
    this.#seq += 1;
    this.#linesSinceSnapshot += 1;
  }

  async #writeSnapshotAndJournal(): Promise<void> {
    // Taken before the first await, so that it holds exactly the entries up to #seq.
    const snapshot = encodeSnapshot(this.#seq, this.#options.takeSnapshot());
    await this.#replace(this.#snapshotFile, snapshot);
    const header = encodeHeader();
    await this.#replace(this.#file, header);
    const old = this.#handle;
    this.#handle = await this.#fs.openForWriting(this.#file);
    this.#position = header.length;
    this.#linesSinceSnapshot = 0;
    await old?.close();
  }

  async #replace(file: string, data: Buffer): Promise<void> {
    const fresh = `${file}.new`;
    const handle = await this.#fs.openForWriting(fresh);
    try {
      await handle.truncate(0);
      await handle.write(data, 0);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await this.#fs.rename(fresh, file);
    await this.#fs.syncFolder(this.#options.folder);
  }

  async #setAside(file: string): Promise<void> {
    const aside = `${file}.damaged`;
    await this.#fs.rename(file, aside);
    this.#options.note({ kind: 'damaged_set_aside', file: aside });
  }

  #openHandle(): JournalHandle {
    if (this.#handle === null) throw new Error('the journal is closed');
    return this.#handle;
  }
}
