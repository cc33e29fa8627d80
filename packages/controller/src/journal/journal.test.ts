import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Journal, openJournal } from './journal.ts';
import { type JournalFs, type JournalHandle, realJournalFs } from './journal-fs.ts';

/** Entries are numbers and the state is their list, so every lost, doubled or invented entry shows. */
interface Box {
  readonly journal: Journal;
  readonly state: number[];
  readonly notes: string[];
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function open(fs: JournalFs = realJournalFs): Promise<Box> {
  const state: number[] = [];
  const notes: string[] = [];
  const journal = await openJournal({
    folder,
    fs,
    compactAfterLines: 5,
    takeSnapshot: () => [...state],
    note: (note) => notes.push(note.kind),
  });
  state.push(...((journal.recovered.snapshot as number[] | null) ?? []));
  state.push(...(journal.recovered.entries as number[]));
  return { journal, state, notes };
}

async function add(box: Box, entry: number): Promise<boolean> {
  const outcome = await box.journal.append(entry, 'durable');
  if (outcome.kind === 'failed') return false;
  box.state.push(entry);
  return true;
}

async function recovered(): Promise<number[]> {
  const box = await open();
  await box.journal.close();
  return box.state;
}

describe('the journal', () => {
  test('gives_back_what_was_appended_in_order', async () => {
    const box = await open();
    for (const entry of [1, 2, 3]) await add(box, entry);
    await box.journal.close();
    expect(await recovered()).toEqual([1, 2, 3]);
  });

  test('a_compacted_journal_gives_back_the_same_state_and_goes_on', async () => {
    const box = await open();
    for (const entry of [1, 2, 3, 4, 5]) await add(box, entry);
    expect(box.journal.needsCompaction()).toBe(true);
    await box.journal.compact();
    expect(box.journal.needsCompaction()).toBe(false);
    await add(box, 6);
    await box.journal.close();
    const lines = (await readFile(join(folder, 'journal.ndjson'), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(await recovered()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('files_are_readable_by_the_owner_only', async () => {
    const box = await open();
    await add(box, 1);
    await box.journal.compact();
    await box.journal.close();
    const { stat } = await import('node:fs/promises');
    for (const file of ['journal.ndjson', 'snapshot.json']) {
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    }
  });

  test.each([
    ['half a line', '{"seq":3,"en'],
    ['a whole line of zeros', `${'\0'.repeat(40)}\n`],
  ])('a_torn_last_line_is_dropped_and_overwritten: %s', async (_name, torn) => {
    const box = await open();
    for (const entry of [1, 2]) await add(box, entry);
    await box.journal.close();
    const file = join(folder, 'journal.ndjson');
    await writeFile(file, `${await readFile(file, 'utf8')}${torn}`);

    const again = await open();
    expect(again.notes).toEqual(['torn_end_dropped']);
    expect(again.state).toEqual([1, 2]);
    await add(again, 3);
    await again.journal.close();
    expect(await recovered()).toEqual([1, 2, 3]);
  });

  test('lines_after_a_damaged_one_are_kept_aside_and_the_good_part_is_used', async () => {
    const box = await open();
    for (const entry of [1, 2, 3]) await add(box, entry);
    await box.journal.close();
    const file = join(folder, 'journal.ndjson');
    const lines = (await readFile(file, 'utf8')).split('\n');
    lines[2] = 'scribble';
    await writeFile(file, lines.join('\n'));

    const again = await open();
    expect(again.notes).toEqual(['damaged_set_aside']);
    expect(again.state).toEqual([1]);
    await add(again, 4);
    await again.journal.close();
    expect(await readFile(`${file}.damaged`, 'utf8')).toContain('scribble');
    expect(await recovered()).toEqual([1, 4]);
  });

  test.each(['journal.ndjson', 'snapshot.json'])('a_newer_schema_is_refused_clearly: %s', async (name) => {
    await writeFile(join(folder, name), `${JSON.stringify({ v: 2, seq: 1, state: [] })}\n`);
    const failure = await open().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PagefleetError);
    expect(failure).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('schema version 2'),
    });
    expect(await readFile(join(folder, name), 'utf8')).toContain('"v":2');
  });
});

describe('a crash', () => {
  /** counts file operations and cuts the power at one of them, in the middle of a write if it is one */
  function crashAt(step: number): { fs: JournalFs; steps: () => number } {
    let done = 0;
    const guard = async <T>(run: () => Promise<T>, half?: () => Promise<void>): Promise<T> => {
      done += 1;
      if (done === step) await half?.();
      if (done >= step) throw new Error('power cut');
      return run();
    };
    const handle = (real: JournalHandle): JournalHandle => ({
      write: (data, position) =>
        guard(
          () => real.write(data, position),
          () => real.write(data.subarray(0, data.length >> 1), position),
        ),
      truncate: (length) => guard(() => real.truncate(length)),
      datasync: () => guard(() => real.datasync()),
      close: () => real.close(),
    });
    const fs: JournalFs = {
      read: (path) => guard(() => realJournalFs.read(path)),
      openForWriting: (path) => guard(async () => handle(await realJournalFs.openForWriting(path))),
      rename: (from, to) => guard(() => realJournalFs.rename(from, to)),
      syncFolder: (path) => guard(() => realJournalFs.syncFolder(path)),
    };
    return { fs, steps: () => done };
  }

  /** returns what was confirmed and what was asked for when the power went */
  async function life(fs: JournalFs): Promise<{ confirmed: number[]; asked: number[] }> {
    const asked: number[] = [];
    const box = await open(fs).catch(() => null);
    if (box === null) return { confirmed: [], asked };
    for (const entry of [1, 2, 3]) {
      asked.push(entry);
      if (!(await add(box, entry))) break;
    }
    await box.journal.compact();
    for (const entry of [4, 5]) {
      asked.push(entry);
      if (!(await add(box, entry))) break;
    }
    await box.journal.close();
    return { confirmed: box.state, asked };
  }

  test('at_every_single_step_loses_nothing_that_was_confirmed_and_invents_nothing', async () => {
    const dry = crashAt(Number.POSITIVE_INFINITY);
    await life(dry.fs);
    const steps = dry.steps();
    expect(steps).toBeGreaterThan(15);
    for (let step = 1; step <= steps; step += 1) {
      await rm(folder, { recursive: true, force: true });
      folder = await mkdtemp(join(tmpdir(), 'journal-'));
      const { confirmed, asked } = await life(crashAt(step).fs);
      const after = await recovered();
      const where = `power cut at step ${step}`;
      expect(after.slice(0, confirmed.length), where).toEqual(confirmed);
      const unconfirmed = after.slice(confirmed.length);
      expect(unconfirmed.length, where).toBeLessThanOrEqual(1);
      for (const entry of unconfirmed) expect(asked, where).toContain(entry);
    }
  }, 30_000);
});

describe('a full disk', () => {
  test('at_the_start_keeps_nobody_from_reading_what_is_there', async () => {
    const first = await open();
    await add(first, 1);
    await first.journal.close();
    let locked = true;
    const box = await open({
      ...realJournalFs,
      async openForWriting(path) {
        if (locked) throw Object.assign(new Error('read-only'), { code: 'EROFS' });
        return realJournalFs.openForWriting(path);
      },
    });
    expect(box.state).toEqual([1]);
    expect(box.journal.writable()).toBe(false);
    expect(await add(box, 2)).toBe(false);
    locked = false;
    expect(await add(box, 3)).toBe(true);
    await box.journal.close();
    expect(await recovered()).toEqual([1, 3]);
  });

  test('is_said_by_writable_and_heals_with_the_first_write_that_works', async () => {
    let full = false;
    const check = () => {
      if (full) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    const fs: JournalFs = {
      ...realJournalFs,
      async openForWriting(path) {
        check();
        const real = await realJournalFs.openForWriting(path);
        return {
          ...real,
          async write(data, position) {
            if (full) await real.write(data.subarray(0, 3), position);
            check();
            await real.write(data, position);
          },
        };
      },
    };
    const box = await open(fs);
    await add(box, 1);
    full = true;
    expect(await add(box, 2)).toBe(false);
    expect(box.journal.writable()).toBe(false);
    full = false;
    expect(await add(box, 3)).toBe(true);
    expect(box.journal.writable()).toBe(true);
    await box.journal.close();
    expect(await recovered()).toEqual([1, 3]);
  });
});
