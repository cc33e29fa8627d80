import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { until } from '../gateway/gateway-process.ts';
import { isAlive, startCompanion, usualMs, watchServers } from './companion-process.ts';

const SLOW = { tokensPerS: 50, loadedTokensPerS: 100_000, rules: [{ reply: { loop: 'again and ' } }] };

describe('the model server beside the companion (R-040, law L16)', () => {
  test('a_request_waits_for_a_start_that_takes_long', async () => {
    const one = startCompanion({ script: { startMs: 2_500 } });
    const early = one.chat('early', { max_tokens: 3 });
    expect((await one.health()).health.engine).toBe('starting');
    expect((await early).status).toBe(200);
    expect(one.starts()).toHaveLength(1);
  });

  test('one_that_is_not_up_in_time_is_ended_and_started_again', async () => {
    const one = startCompanion({ settings: { serverStartMs: 3_000 }, script: { startMs: 60_000 } });
    const watch = watchServers(one);
    await until(() => /did not serve within 3 s/.test(one.log()), 'the start is given up');
    one.setScript({});
    await one.until('ready');
    expect(await watch.most()).toBe(1);
  });

  test('out_of_memory_at_start_is_dead_and_says_why_and_a_later_start_may_work', async () => {
    const one = startCompanion({ script: { startFails: 'oom' }, env: { HF_TOKEN: 'hf_verysecret' } });
    const { engineFault = '' } = await one.until('dead');
    expect(engineFault).toMatch(/out of memory/i);
    const refused = await one.chat('p');
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([503, 'engine_not_ready']);
    expect(JSON.stringify((await one.health()).health)).not.toContain('hf_verysecret');
    one.setScript({});
    expect((await one.until('ready')).engineFault).toBeUndefined();
    expect((await one.chat('p2', { max_tokens: 3 })).status).toBe(200);
  });

  test('a_start_that_fails_once_for_an_unknown_reason_is_no_fault_of_the_settings', async () => {
    const one = startCompanion({ script: { startFails: 'exit' } });
    expect((await one.until('dead')).engineFault).toBeUndefined();
  });

  test('a_program_that_is_not_there_is_named', async () => {
    const one = startCompanion({ settings: { serverCommand: ['no-such-program', 'serve'] } });
    expect((await one.until('dead')).engineFault).toContain('no-such-program cannot be run');
  });

  test('killed_in_the_middle_of_replies_it_cuts_them_and_comes_back (never a clean end)', async () => {
    const one = startCompanion({ script: SLOW });
    await one.until('ready');
    const watch = watchServers(one);
    for (let life = 0; life < 3; life += 1) {
      const streamed = one.open(`s-${life}`, { max_tokens: 5_000, stream: true });
      const whole = one.open(`b-${life}`, { max_tokens: 5_000 });
      await streamed.head;
      await until(async () => (await one.stats()).running === 2, 'both are read');
      process.kill(one.starts().at(-1)?.pid ?? 0, 'SIGKILL');
      await expect(streamed.answer).rejects.toThrow();
      const { status, body } = await whole.answer;
      expect([status, JSON.parse(body).code]).toEqual([502, 'engine_failed']);
      await until(() => one.starts().length === life + 2, 'it is started again');
      const two = ['x', 'y'].map((name) => one.chat(`${name}-${life}`, { max_tokens: 3 }));
      expect((await Promise.all(two)).map((answer) => answer.status)).toEqual([200, 200]);
    }
    expect(await watch.most()).toBe(1);
    expect(one.starts()).toHaveLength(4);
  });

  test('one_that_hangs_is_busy_and_used_and_never_replaced (R-040, R-041)', async () => {
    const one = startCompanion({ script: SLOW });
    await one.until('ready');
    const [{ pid } = { pid: 0 }] = one.starts();
    process.kill(pid, 'SIGSTOP');
    const held = one.chat('held', { max_tokens: 3 });
    expect(await usualMs(async () => (await one.health()).ms)).toBeLessThan(10);
    await one.until('busy');
    process.kill(pid, 'SIGCONT');
    expect((await held).status).toBe(200);
    await one.until('ready');
    expect(one.starts()).toHaveLength(1);
  }, 90_000);

  test('is_told_neither_the_token_nor_the_key_of_the_pod (R-025)', async () => {
    const env = { RUNPOD_API_KEY: 'rpa_of_this_pod', HF_TOKEN: 'hf_for_the_server' };
    const one = startCompanion({ env, settings: { serverEnv: ['OMP_NUM_THREADS=1'] } });
    await one.until('ready');
    const [{ pid } = { pid: 0 }] = one.starts();
    const told = readFileSync(`/proc/${pid}/environ`, 'utf8');
    expect(told).not.toMatch(/PAGEFLEET_POD_|rpa_of_this_pod/);
    expect(told).toContain('OMP_NUM_THREADS=1');
    expect(told).toContain('hf_for_the_server');
    expect(one.starts()[0]?.argv.join(' ')).toMatch(/--host 127\.0\.0\.1 --port \d+/);
  });

  test('does_not_outlive_a_companion_that_is_killed', async () => {
    const one = startCompanion();
    await one.until('ready');
    const [{ pid } = { pid: 0 }] = one.starts();
    expect(isAlive(pid)).toBe(true);
    one.child.kill('SIGKILL');
    await one.exited;
    await until(() => !isAlive(pid), 'the model server is gone', 5_000);
  });
});
