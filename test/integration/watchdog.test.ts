import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repoRoot } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Not the whole package: what a program imports must not take longer than what it does. */
const SOURCE = join(repoRoot(), 'packages/runtime/src');

interface Line {
  readonly event: string;
  readonly silentMs: number;
  readonly stack?: string[] | null;
  readonly note?: string;
}

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pagefleet-watchdog-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/**
 * Runs a program with a watchdog and `body`. Flags are files, which the program can see while its loop is blocked:
 * `raised(name)` in the program, `raise(name)` here.
 */
function start(limits: string, body: string) {
  const script = `
    import { execFileSync } from 'node:child_process';
    import { existsSync } from 'node:fs';
    import { startWatchdog } from ${JSON.stringify(join(SOURCE, 'watchdog/start-watchdog.ts'))};
    import { createLogger } from ${JSON.stringify(join(SOURCE, 'logger.ts'))};
    const raised = (name) => existsSync(${JSON.stringify(folder)} + '/' + name);
    const logger = createLogger({ component: 'x', level: 'info' });
    const watchdog = startWatchdog({ name: 'worker', logger, ${limits} });
    const life = setInterval(() => { if (raised('end')) clearInterval(life); }, 20);
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  const lines = (): Line[] => text.match(/^\{.*\}$/gm)?.map((line) => JSON.parse(line)) ?? [];
  return {
    child,
    text: () => text,
    lines,
    raise: (name: string) => writeFileSync(join(folder, name), ''),
    /** the first line that fits, when it comes */
    async line(fits: (line: Line) => boolean): Promise<Line> {
      for (;;) {
        const found = lines().find(fits);
        if (found) return found;
        await sleep(20);
      }
    },
  };
}

const stackHas = (line: Line, name: string) => line.stack?.join('\n').includes(name) ?? false;

describe('the watchdog of a really blocked process (R-019)', () => {
  it('prints_the_stack_of_the_blocked_loop_again_while_it_lasts_and_then_ends_the_process', async () => {
    const { child, lines } = start(
      'stallMs: 300, repeatMs: 800, fatalMs: 4000',
      `function spinForEver() { for (;;) Math.random(); }
       setTimeout(function guiltyTimer() { spinForEver(); }, 300);`,
    );
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    const guilty = lines().filter((line) => stackHas(line, 'spinForEver') && stackHas(line, 'guiltyTimer'));
    const blocked = guilty.filter(({ event }) => event === 'loop_blocked');
    expect(blocked.length).toBeGreaterThanOrEqual(2);
    expect(blocked[0]?.silentMs).toBeGreaterThanOrEqual(300);
    expect(lines().at(-1)).toEqual(guilty.at(-1));
    expect(lines().at(-1)?.event).toBe('loop_hung');
    expect(lines().at(-1)?.silentMs).toBeGreaterThanOrEqual(4_000);
  });

  it('a_loop_that_comes_back_lives_on_and_says_how_long_it_was_silent', async () => {
    const { child, line, raise, text } = start(
      'stallMs: 300, repeatMs: 60000, fatalMs: 60000',
      `function busyForAWhile() { while (!raised('enough')) Math.random(); }
       setTimeout(busyForAWhile, 300);`,
    );
    const blocked = await line((one) => one.event === 'loop_blocked' && stackHas(one, 'busyForAWhile'));
    raise('enough');
    const recovered = await line(({ event }) => event === 'loop_recovered');
    expect(recovered.silentMs).toBeGreaterThanOrEqual(blocked.silentMs);
    raise('end');
    expect(await once(child, 'close')).toEqual([0, null]);
    // An inspector that was left on would say so at the end, and change how the program runs.
    expect(text()).not.toMatch(/debugger/i);
  });

  it('inside_native_code_there_is_no_stack_and_it_says_so', async () => {
    const { child, line, raise } = start(
      'stallMs: 300, repeatMs: 60000, fatalMs: 60000',
      `setTimeout(() => execFileSync('sh', ['-c', 'until [ -e ${folder}/enough ]; do sleep 0.1; done']), 300);`,
    );
    const native = await line(({ event, stack }) => event === 'loop_blocked' && stack === null);
    expect(native.note).toContain('native');
    raise('enough');
    await line(({ event }) => event === 'loop_recovered');
    raise('end');
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  it('time_in_which_the_whole_process_was_stopped_is_starvation_and_ends_nothing', async () => {
    const { child, line, lines, raise } = start(
      'stallMs: 1000, fatalMs: 4000',
      `setTimeout(() => { while (!raised('seen')) Math.random(); }, 100);`,
    );
    // Only then is it sure that the watchdog's own thread runs.
    await line(({ event }) => event === 'loop_blocked');
    raise('seen');
    await line(({ event }) => event === 'loop_recovered');
    child.kill('SIGSTOP');
    await sleep(6_000);
    child.kill('SIGCONT');
    await line(({ event }) => event === 'loop_starved');
    await sleep(500);
    raise('end');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(lines().map(({ event }) => event)).not.toContain('loop_hung');
  });

  it('a_healthy_loop_is_left_alone_and_the_process_ends_with_its_work', async () => {
    const { child, text, raise } = start('stallMs: 8000, fatalMs: 60000', '');
    await sleep(1_000);
    raise('end');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(text()).toBe('');
  });

  it('after_stop_nothing_is_watched', async () => {
    const { child, text, raise } = start(
      'stallMs: 100, fatalMs: 60000',
      `watchdog.stop();
       setTimeout(() => { for (const end = Date.now() + 1500; Date.now() < end; ); }, 100);`,
    );
    raise('end');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(text()).toBe('');
  });
});
