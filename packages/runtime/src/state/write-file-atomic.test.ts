import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomic } from './write-file-atomic.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pagefleet-atomic-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('writeFileAtomic', () => {
  it('replaces_the_content_and_leaves_nothing_beside_it', async () => {
    const path = join(folder, 'a.json');
    await writeFileAtomic(path, 'one');
    await writeFileAtomic(path, Buffer.from('two'));
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it('the_mode_is_exact_whatever_the_umask', async () => {
    const before = process.umask(0o077);
    try {
      await writeFileAtomic(join(folder, 'private'), '');
      await writeFileAtomic(join(folder, 'open'), '', 0o644);
    } finally {
      process.umask(before);
    }
    expect(statSync(join(folder, 'private')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'open')).mode & 0o777).toBe(0o644);
  });

  it('a_reader_never_sees_a_part', async () => {
    const path = join(folder, 'big');
    const versions = ['a', 'b'].map((letter) => letter.repeat(400_000));
    await writeFileAtomic(path, versions[0] ?? '');
    let writing = true;
    const writer = (async () => {
      for (let n = 0; n < 20; n += 1) await writeFileAtomic(path, versions[n % 2] ?? '');
      writing = false;
    })();
    while (writing) {
      expect(versions).toContain(readFileSync(path, 'utf8'));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writer;
  });

  it('writers_at_the_same_time_do_not_disturb_each_other', async () => {
    const path = join(folder, 'x');
    const texts = Array.from({ length: 10 }, (_, n) => `${n}`.repeat(1_000));
    await Promise.all(texts.map((text) => writeFileAtomic(path, text)));
    expect(texts).toContain(readFileSync(path, 'utf8'));
    expect(readdirSync(folder)).toEqual(['x']);
  });

  it('a_failure_leaves_the_old_content_and_no_temporary_file', async () => {
    const path = join(folder, 'taken');
    mkdirSync(join(path, 'child'), { recursive: true });
    await expect(writeFileAtomic(path, 'x')).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(['taken']);
  });
});
