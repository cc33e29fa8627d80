import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';

// Other processes are started here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

type Child = ChildProcessByStdio<null, Readable, null>;

/** Runs a program that stops by `steps`; returns it once it listens for signals. */
async function start(steps: string, timeoutMs = 5_000): Promise<{ child: Child; text: () => string }> {
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { onShutdown } from ${JSON.stringify(join(import.meta.dirname, 'on-shutdown.ts'))};
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, '../logger.ts'))};
    const say = (text) => process.stdout.write(text + '\\n');
    const logger = createLogger({ component: 'x', level: 'info' });
    setInterval(() => {}, 1000);
    onShutdown({ logger, timeoutMs: ${timeoutMs}, steps: [${steps}] });
    say('READY');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  while (!text.includes('READY')) await once(child.stdout, 'data');
  return { child, text: () => text };
}

describe('onShutdown', () => {
  it('runs_the_steps_in_order_once_however_many_signals_come', async () => {
    const { child, text } = await start(
      `{ name: 'a', run: async () => { say('A'); await sleep(100); } }, { name: 'b', run: async () => say('B') }`,
    );
    child.kill('SIGTERM');
    child.kill('SIGINT');
    const closed = once(child, 'close');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await closed;
    expect(text().match(/^[AB]$/gm)).toEqual(['A', 'B']);
  });

  it('a_step_that_fails_is_logged_the_others_run_and_the_exit_code_says_so', async () => {
    const { child, text } = await start(
      `{ name: 'bad', run: async () => { throw new Error('no'); } }, { name: 'b', run: async () => say('B') }`,
    );
    child.kill('SIGTERM');
    const closed = once(child, 'close');
    expect(await once(child, 'exit')).toEqual([1, null]);
    await closed;
    expect(text()).toMatch(/^B$/m);
    expect(text()).toContain('"step":"bad"');
  });

  it('steps_that_hang_are_given_up_after_the_timeout', async () => {
    const { child, text } = await start(`{ name: 'hang', run: () => new Promise(() => {}) }`, 100);
    child.kill('SIGINT');
    const closed = once(child, 'close');
    expect(await once(child, 'exit')).toEqual([1, null]);
    await closed;
    expect(text()).toContain('stop_timed_out');
  });
});
