import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { realClock } from './clock.ts';
import { type PassLoop, startPassLoop } from './pass-loop.ts';

let loop: PassLoop | null = null;
afterEach(() => loop?.stop());

describe('the pass loop', () => {
  test('many_requests_at_once_are_one_pass_and_never_two_at_a_time', async () => {
    let running = 0;
    let most = 0;
    let passes = 0;
    loop = startPassLoop({
      clock: realClock,
      onFailure: () => undefined,
      runPass: async () => {
        running += 1;
        most = Math.max(most, running);
        await sleep(30);
        running -= 1;
        passes += 1;
        return { wakeAtMs: Date.now() + 60_000 };
      },
    });
    for (let n = 0; n < 100; n += 1) loop.request();
    await sleep(150);
    expect(most).toBe(1);
    expect(passes).toBeLessThanOrEqual(2);
  });

  test('what_happens_during_a_pass_causes_another_one', async () => {
    let passes = 0;
    loop = startPassLoop({
      clock: realClock,
      onFailure: () => undefined,
      runPass: async () => {
        passes += 1;
        if (passes === 1) loop?.request();
        return { wakeAtMs: Date.now() + 60_000 };
      },
    });
    await sleep(120);
    expect(passes).toBe(2);
  });

  test('it_wakes_when_the_last_pass_asked_for_it_and_at_least_each_second', async () => {
    const times: number[] = [];
    loop = startPassLoop({
      clock: realClock,
      onFailure: () => undefined,
      runPass: async () => {
        times.push(performance.now());
        return { wakeAtMs: Date.now() + (times.length === 1 ? 60 : 60_000) };
      },
    });
    await sleep(1_600);
    expect(times.length).toBeGreaterThanOrEqual(3);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeLessThan(900);
  });

  test('a_pass_that_fails_is_told_and_the_next_one_comes', async () => {
    const failures: unknown[] = [];
    let passes = 0;
    loop = startPassLoop({
      clock: realClock,
      onFailure: (error) => failures.push(error),
      runPass: async () => {
        passes += 1;
        if (passes === 1) throw new Error('a fault of ours');
        return { wakeAtMs: Date.now() + 60_000 };
      },
    });
    loop.request();
    await sleep(60);
    loop.request();
    await sleep(120);
    expect(failures).toHaveLength(1);
    expect(passes).toBeGreaterThanOrEqual(2);
  });
});
