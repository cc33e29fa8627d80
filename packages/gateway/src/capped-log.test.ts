import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openCappedLog } from './capped-log.ts';

const folders: string[] = [];

async function temporaryLog(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'capped-log-'));
  folders.push(folder);
  return join(folder, 'log');
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

describe('log of a local pod', () => {
  it('no_line_is_lost_when_the_file_is_turned_over_and_both_files_stay_bounded', async () => {
    const path = await temporaryLog();
    const log = await openCappedLog({ path, maxBytes: 1_000 });
    for (let n = 0; n < 30; n += 1) {
      log.write(`line ${String(n).padStart(40, '0')}\n`);
      if (n % 4 === 0) await log.flush();
    }
    await log.close();
    const kept = (await readFile(`${path}.1`, 'utf8')) + (await readFile(path, 'utf8'));
    const numbers = kept
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.slice(5)));
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, n) => n).slice(-numbers.length));
    expect(numbers.length).toBeGreaterThanOrEqual(20);
    expect((await stat(path)).size).toBeLessThanOrEqual(1_000);
    expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(1_000);
  });

  it('what_was_there_before_counts', async () => {
    const path = await temporaryLog();
    const first = await openCappedLog({ path, maxBytes: 20 });
    first.write('0123456789abcdef\n');
    await first.close();
    const second = await openCappedLog({ path, maxBytes: 20 });
    second.write('next line\n');
    await second.close();
    expect(await readFile(path, 'utf8')).toBe('next line\n');
    expect(await readFile(`${path}.1`, 'utf8')).toBe('0123456789abcdef\n');
  });

  it.runIf(process.platform === 'linux')('a_full_disk_costs_lines_and_not_the_process', async () => {
    const log = await openCappedLog({ path: '/dev/full', maxBytes: 1_000 });
    log.write('lost\n');
    await log.flush();
    log.write('lost too\n');
    await expect(log.flush()).resolves.toBeUndefined();
    await log.close();
  });
});
