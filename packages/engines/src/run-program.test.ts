import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runProgram } from './run-program.ts';

const node = (code: string, options: Partial<Parameters<typeof runProgram>[2]> = {}) =>
  runProgram(process.execPath, ['-e', code], { timeoutMs: 8_000, maxOutputBytes: 1_000_000, ...options });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('running a program for one page', () => {
  test('what_it_reads_and_writes_comes_through', async () => {
    const echo = "process.stdin.pipe(process.stdout); process.stderr.write(process.env.PAGE ?? '')";
    const run = await node(echo, { stdin: Buffer.from('in'), env: { PAGE: 'err' } });
    expect(run).toEqual({ outcome: 'exited', exitCode: 0, stdout: Buffer.from('in'), stderr: 'err' });
  });

  test('an_exit_code_is_an_answer', async () => {
    expect(await node('process.exit(3)')).toMatchObject({ outcome: 'exited', exitCode: 3 });
  });

  test('a_program_that_is_not_there_is_told_as_absent', async () => {
    const run = await runProgram('pagefleet-no-such-program', [], { timeoutMs: 1_000, maxOutputBytes: 1 });
    expect(run).toEqual({ outcome: 'absent' });
  });

  test('input_that_nobody_reads_does_no_harm', async () => {
    expect(await node('process.exit(0)', { stdin: Buffer.alloc(4_000_000) })).toMatchObject({ exitCode: 0 });
  });

  test.each(['timeout', 'abort'] as const)(
    'after_%s_the_process_is_gone_when_the_promise_settles',
    async (because) => {
      const abort = new AbortController();
      const folder = await mkdtemp(join(tmpdir(), 'pagefleet-run-'));
      const pidFile = join(folder, 'pid');
      const stubborn = `process.on('SIGTERM', () => {}); require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setTimeout(() => {}, 9000)`;
      const running = node(stubborn, because === 'abort' ? { signal: abort.signal } : { timeoutMs: 4_000 });
      let settled = false;
      running.finally(() => {
        settled = true;
      });
      while (!settled && !(existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '')) await setTimeout(20);
      const pid = Number(readFileSync(pidFile, 'utf8'));
      expect(isAlive(pid)).toBe(true);
      abort.abort();
      expect(await running).toEqual({ outcome: 'killed', because });
      expect(isAlive(pid)).toBe(false);
      await rm(folder, { recursive: true });
    },
  );

  test('an_abort_that_came_before_starts_nothing', async () => {
    const run = await node('process.exit(0)', { signal: AbortSignal.abort() });
    expect(run).toEqual({ outcome: 'killed', because: 'abort' });
  });

  test('output_without_end_is_cut_off', async () => {
    const flood =
      "const b = Buffer.alloc(65536); const w = () => { while (process.stdout.write(b)); }; process.stdout.on('drain', w); w()";
    expect(await node(flood)).toEqual({ outcome: 'killed', because: 'output_limit' });
  });
});
