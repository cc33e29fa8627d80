import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';

// Other processes are started here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

type Stdout = 'pipe' | number;

/** A program with a logger on its standard output; it writes to descriptor 3 what the test shall know. */
function start(steps: string, stdout: Stdout = 'pipe') {
  const script = `
    import { writeSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, 'logger.ts'))};
    const logger = createLogger({ component: 'x', level: 'info' });
    const say = (text) => writeSync(3, text);
    const fill = (bytes) => { for (let n = 0; n * 1000 < bytes; n += 1) logger.info({ pad: 'x'.repeat(900) }, 'line'); };
    ${steps}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', stdout, 'inherit', 'pipe'],
  });
  children.push(child);
  let said = '';
  const out = child.stdio[3] as Readable;
  out.setEncoding('utf8').on('data', (part: string) => {
    said += part;
  });
  return { child, stdin: child.stdin as Writable, said: () => said };
}

/** Reads all that comes from now on. */
function readAll(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}

/** The exit code; null when it had to be killed. */
async function codeWithin(child: ChildProcess, ms: number): Promise<number | null> {
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  return code;
}

describe('the output of a logger', () => {
  it('the_last_lines_before_an_exit_are_written', async () => {
    const { child } = start(`for (let n = 1; n <= 500; n += 1) logger.info({ n }, 'line'); process.exit(0);`);
    const text = readAll(child);
    await once(child, 'close');
    const numbers = text()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { n: number }).n);
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, n) => n + 1));
  });

  it('a_reader_that_goes_away_does_not_end_the_process', async () => {
    const { child, stdin } = start(`
      logger.info('first');
      process.stdin.once('data', async () => {
        for (let n = 0; n < 100; n += 1) { logger.info('more'); await sleep(1); }
        logger.flush(() => process.exit(7));
      });`);
    await once(child.stdout as Readable, 'data');
    child.stdout?.destroy();
    stdin.write('go');
    expect(await codeWithin(child, 20_000)).toBe(7);
  });
});

describe('a successor of the reader', () => {
  it('takes_every_line_that_the_reader_did_not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pagefleet-log-'));
    const file = join(folder, 'orphans.log');
    const { child, stdin } = start(`
      createLogger({ component: 'x', level: 'info', successorFile: ${JSON.stringify(file)} });
      logger.info('first');
      process.stdin.once('data', async () => {
        for (let n = 0; n < 100; n += 1) { logger.info({ n }, 'more'); await sleep(1); }
        logger.info('last');
        process.exit(7);
      });`);
    await once(child.stdout as Readable, 'data');
    child.stdout?.destroy();
    stdin.write('go');
    expect(await codeWithin(child, 20_000)).toBe(7);
    const events = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event);
    // In any order: an end writes what waits beside what a thread of the pool still holds.
    expect(events.sort()).toEqual(['last', ...Array.from({ length: 100 }, () => 'more')]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    rmSync(folder, { recursive: true });
  });
});

describe('a reader that never reads', () => {
  it('does_not_keep_the_process_from_ending', async () => {
    const { child, said } = start(`fill(2_000_000); await sleep(200); say('on'); process.exit(7);`);
    await expect.poll(said, { timeout: 20_000 }).toBe('on');
    expect(await codeWithin(child, 5_000)).toBe(7);
  });

  it('does_not_keep_a_flush_from_calling_back', async () => {
    const { child, said } = start(
      `fill(2_000_000); await sleep(200); say('on'); logger.flush(() => process.exit(7));`,
    );
    await expect.poll(said, { timeout: 20_000 }).toBe('on');
    expect(await codeWithin(child, 5_000)).toBe(7);
  });

  it('costs_the_newest_lines_and_they_are_counted_when_it_reads_again', async () => {
    const { child, said, stdin } = start(`
      fill(8_000_000);
      say('on');
      process.stdin.once('data', async () => { await sleep(500); logger.info('last'); logger.flush(() => process.exit(0)); });`);
    await expect.poll(said, { timeout: 20_000 }).toBe('on');
    const text = readAll(child);
    const closed = once(child, 'close');
    stdin.write('go');
    await closed;
    const lines = text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; lines?: number });
    const lost = lines.filter(({ event }) => event === 'log_lines_lost');
    expect(lost).toHaveLength(1);
    expect(lines.filter(({ event }) => event === 'line').length + (lost[0]?.lines ?? 0)).toBe(8_000);
    expect(lines.at(-1)?.event).toBe('last');
  });
});

describe.runIf(existsSync('/dev/full'))('a full disk under the output', () => {
  it.each([
    ['exit', 'process.exit(7)'],
    ['flush', 'logger.flush(() => process.exit(7))'],
    ['the_end_of_all_work', 'process.exitCode = 7'],
  ])('costs_lines_not_the_process: %s', async (_name, end) => {
    const full = openSync('/dev/full', 'w');
    const { child, said } = start(
      `logger.info('a'); await sleep(100); fill(100_000); await sleep(100); say('on'); process.stdin.destroy(); ${end};`,
      full,
    );
    closeSync(full);
    const ended = codeWithin(child, 8_000);
    expect(await ended).toBe(7);
    expect(said()).toBe('on');
  });
});
