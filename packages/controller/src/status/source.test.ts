import { describe, expect, test } from 'vitest';
import { createSource } from './source.ts';

function clock() {
  let now = 1_000;
  return {
    nowMs: () => now,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('a source of the status (R-090)', () => {
  test('a_source_that_answers_is_of_now', async () => {
    const source = createSource({ name: 'a', read: async () => 7, limitMs: 1_000, nowMs: clock().nowMs });
    expect(await source.read()).toEqual({ value: 7, ageMs: 0, late: null });
  });

  test('a_late_source_shows_its_last_value_with_its_age_and_never_zeros', async () => {
    const { nowMs, pass } = clock();
    let hang = false;
    const read = () => (hang ? new Promise<number>(() => undefined) : Promise.resolve(7));
    const source = createSource({ name: 'a', read, limitMs: 30, nowMs });
    await source.read();
    hang = true;
    pass(400);
    expect(await source.read()).toEqual({ value: 7, ageMs: 400, late: 'no answer within 30 ms' });
  });

  test('a_source_that_never_answered_is_null_and_says_so', async () => {
    const source = createSource({
      name: 'a',
      read: () => new Promise<number>(() => undefined),
      limitMs: 20,
      nowMs: clock().nowMs,
    });
    expect(await source.read()).toMatchObject({
      value: null,
      ageMs: null,
      late: expect.stringContaining('20 ms'),
    });
  });

  test('a_failing_source_names_its_failure_and_keeps_the_last_value', async () => {
    const { nowMs, pass } = clock();
    let broken = false;
    const read = async () => {
      if (broken) throw new Error('no route');
      return 7;
    };
    const source = createSource({ name: 'a', read, limitMs: 1_000, nowMs });
    await source.read();
    broken = true;
    pass(50);
    expect(await source.read()).toEqual({ value: 7, ageMs: 50, late: 'no route' });
  });

  test('a_source_that_hangs_is_asked_once_however_many_want_it', async () => {
    let calls = 0;
    const read = () => {
      calls += 1;
      return new Promise<number>(() => undefined);
    };
    const source = createSource({ name: 'a', read, limitMs: 20, nowMs: clock().nowMs });
    await Promise.all([source.read(), source.read(), source.read()]);
    await source.read();
    expect(calls).toBe(1);
  });
});
