import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openPodLog } from './pod-log.ts';

const cleanings: (() => unknown)[] = [];

async function temporaryLog(): Promise<{ fd: number; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'pod-log-'));
  cleanings.push(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'log');
  return { path, fd: openForAppend(path) };
}

function openForAppend(path: string): number {
  const fd = openSync(path, 'a');
  cleanings.push(() => closeSync(fd));
  return fd;
}

afterEach(async () => {
  for (const clean of cleanings.splice(0).reverse()) await clean();
});

describe('log of a pod', () => {
  it('no_line_is_lost_when_the_file_is_turned_over_and_both_files_stay_bounded', async () => {
    const file = await temporaryLog();
    const log = await openPodLog({ ...file, maxBytes: 1_000 });
    for (let n = 0; n < 30; n += 1) {
      log.write(`line ${String(n).padStart(40, '0')}\n`);
      if (n % 4 === 0) await log.flush();
    }
    await log.flush();
    const kept = (await readFile(`${file.path}.1`, 'utf8')) + (await readFile(file.path, 'utf8'));
    const numbers = kept
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.slice(5)));
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, n) => n).slice(-numbers.length));
    expect(numbers.length).toBeGreaterThanOrEqual(20);
    expect((await stat(file.path)).size).toBeLessThanOrEqual(1_000);
    expect((await stat(`${file.path}.1`)).size).toBeLessThanOrEqual(1_000);
  });

  it('what_was_there_before_counts', async () => {
    const file = await temporaryLog();
    const first = await openPodLog({ ...file, maxBytes: 20 });
    first.write('0123456789abcdef\n');
    await first.flush();
    const second = await openPodLog({ ...file, maxBytes: 20 });
    second.write('next line\n');
    await second.flush();
    expect(await readFile(file.path, 'utf8')).toBe('next line\n');
    expect(await readFile(`${file.path}.1`, 'utf8')).toBe('0123456789abcdef\n');
  });

  it('a_descriptor_that_is_not_ours_is_never_turned_over', async () => {
    const { fd, path } = await temporaryLog();
    const log = await openPodLog({ fd, path: null, maxBytes: 5 });
    for (const line of ['first\n', 'second\n']) {
      log.write(line);
      await log.flush();
    }
    expect(await readFile(path, 'utf8')).toBe('first\nsecond\n');
  });

  it.runIf(process.platform === 'linux')('a_full_disk_costs_lines_and_not_the_process', async () => {
    const log = await openPodLog({ fd: openForAppend('/dev/full'), path: null, maxBytes: 1_000 });
    log.write('lost\n');
    await log.flush();
    log.write('lost too\n');
    await expect(log.flush()).resolves.toBeUndefined();
  });
});
