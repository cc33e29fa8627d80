import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repoRoot } from '@pagefleet/runtime';
import { describe, expect, it } from 'vitest';

/** Not the whole package: what a program of a few seconds imports must not take longer than what it does. */
const SOURCE = join(repoRoot(), 'packages/runtime/src');

interface Line {
  readonly event: string;
  readonly silentMs?: number;
  readonly stack?: string[] | null;
  readonly note?: string;
}

/** Runs a program with a watchdog and `body`; what the watchdog printed can be asked for at any time. */
function start(
  limits: string,
  body: string,
): { child: ChildProcess; text: () => string; lines: () => Line[] } {
  const script = `
    import { execFileSync } from 'node:child_process';
    import { startWatchdog } from ${JSON.stringify(join(SOURCE, 'watchdog/start-watchdog.ts'))};
    import { createLogger } from ${JSON.stringify(join(SOURCE, 'logger.ts'))};
    const logger = createLogger({ component: 'x', level: 'info' });
    const watchdog = startWatchdog({ name: 'worker', logger, ${limits} });
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  return {
    child,
    text: () => text,
    lines: () =>
      text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
  };
}

describe('the watchdog of a really blocked process (R-019)', () => {
  it('prints_the_stack_of_the_blocked_loop_again_while_it_lasts_and_then_ends_the_process', async () => {
    const { child, lines } = start(
      'stallMs: 200, repeatMs: 500, fatalMs: 1500',
      `function spinForEver() { for (;;) Math.random(); }
       setTimeout(function guiltyTimer() { spinForEver(); }, 300);`,
    );
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    const events = lines().map(({ event }) => event);
    expect(events.filter((event) => event === 'loop_blocked').length).toBeGreaterThanOrEqual(2);
    expect(events.at(-1)).toBe('loop_hung');
    for (const line of lines()) {
      const stack = line.stack?.join('\n') ?? '';
      expect(stack).toContain('spinForEver');
      expect(stack).toContain('guiltyTimer');
    }
    expect(lines()[0]?.silentMs).toBeGreaterThanOrEqual(200);
    expect(lines().at(-1)?.silentMs).toBeGreaterThanOrEqual(1_500);
  });

  it('a_loop_that_comes_back_lives_on_and_says_how_long_it_was_silent', async () => {
    const { child, lines, text } = start(
      'stallMs: 200, repeatMs: 30000, fatalMs: 20000',
      `function busyForAWhile() { for (const end = Date.now() + 2000; Date.now() < end; ); }
       setTimeout(busyForAWhile, 800);
       setTimeout(() => {}, 4000);`,
    );
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(lines().map(({ event }) => event)).toEqual(['loop_blocked', 'loop_recovered']);
    expect(lines()[0]?.stack?.[0]).toContain('busyForAWhile');
    expect(lines()[1]?.silentMs).toBeGreaterThanOrEqual(1_500);
    // An inspector that was left on would say so at the end and change how the program runs.
    expect(text()).not.toMatch(/debugger/i);
  });

  it('inside_native_code_there_is_no_stack_and_it_says_so', async () => {
    const { child, lines } = start(
      'stallMs: 200, repeatMs: 30000, fatalMs: 20000',
      `setTimeout(() => { execFileSync('sleep', ['2']); }, 200);
       setTimeout(() => {}, 2800);`,
    );
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(lines()[0]).toMatchObject({ event: 'loop_blocked', stack: null });
    expect(lines()[0]?.note).toContain('native');
  });

  it('time_in_which_the_whole_process_was_stopped_does_not_count', async () => {
    const { child, lines } = start('stallMs: 700, fatalMs: 1500', 'setTimeout(() => {}, 2500);');
    await sleep(800);
    child.kill('SIGSTOP');
    await sleep(2_500);
    child.kill('SIGCONT');
    expect(await once(child, 'close')).toEqual([0, null]);
    const events = lines().map(({ event }) => event);
    expect(events).not.toContain('loop_hung');
    expect(events).not.toContain('loop_blocked');
  });

  it('a_healthy_loop_is_left_alone_and_the_process_ends_with_its_work', async () => {
    const { child, text } = start('stallMs: 1500, fatalMs: 9000', 'setTimeout(() => {}, 700);');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(text()).toBe('');
  });

  it('after_stop_nothing_is_watched', async () => {
    const { child, text } = start(
      'stallMs: 100, fatalMs: 400',
      `watchdog.stop();
       setTimeout(() => { for (const end = Date.now() + 900; Date.now() < end; ); }, 100);`,
    );
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(text()).toBe('');
  });
});
