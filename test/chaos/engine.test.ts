import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { type GatewayProcess, startGateway, until } from '../integration/gateway/gateway-process.ts';
import {
  type ModelGateway,
  type ModelGatewayOptions,
  smallPage,
  startModelGateway,
} from '../integration/gateway/model-gateway.ts';
import { type EngineWatch, type OwnTimes, percentilesOf, watchEngine } from './engine-watch.ts';

/** */
const HEALTH_MS = 10;
/** Fewer say nothing about one in a hundred, or about one in twenty. */
const MANY_PROBES = 500;
const SOME_PROBES = 40;
const own: OwnTimes = { pod: [], idle: [] };

/** Lanes run side by side, since most of their time is waiting; what stands in one comes in order. */
const LANE = { concurrent: true };
const IN_ORDER = { concurrent: false };

let idle: GatewayProcess;
beforeAll(() => {
  idle = startGateway({ settings: { deadManMs: 600_000 } });
});
afterAll(() => idle.end());

async function start(
  { onTestFinished }: TestContext,
  options: ModelGatewayOptions,
): Promise<{ pod: ModelGateway; watch: EngineWatch }> {
  const pod = startModelGateway(options);
  onTestFinished(() => pod.end());
  await Promise.all([pod.gateway.port(), idle.port()]);
  return { pod, watch: watchEngine(pod, idle, own) };
}

const becomes = (of: ModelGateway, state: string, withinMs?: number): Promise<void> =>
  until(async () => (await of.state()) === state, `the engine is ${state}`, withinMs);

/**
 * What holds in all of these, whatever happened. Of health the time counts that the pod itself took, beside an idle pod: a loop
 * that is held up shows there, and neighbours that take the cores do not.
 */
async function expectOneServerAndQuickHealth(watch: EngineWatch, what: string): Promise<void> {
  const found = await watch.stop();
  process.stdout.write(`${what}: ${JSON.stringify(found)}\n`);
  expect(found.looks).toBeGreaterThan(5);
  expect(found.mostAtOnce).toBe(1);
  if (found.own.n >= SOME_PROBES) expect(found.own.p95).toBeLessThan(HEALTH_MS + found.ownOfIdle.p95);
}

describe.runIf(process.platform === 'linux')('the engine of a pod in trouble (R-040, R-041, L16)', () => {
  describe('hung', LANE, () => {
    it('a_hung_one_is_busy_and_is_used_and_not_replaced', IN_ORDER, async (test) => {
      const { pod, watch } = await start(test, {});
      await becomes(pod, 'ready');
      const [{ pid = 0 } = {}] = pod.starts();
      process.kill(pid, 'SIGSTOP');
      // A probe every 5 s, one of 3 s and one of 15 s.
      await becomes(pod, 'busy', 40_000);
      const read = pod.gateway.read('while-it-hangs', await smallPage(1));
      await sleep(6_000);
      expect([await pod.state(), pod.starts().length]).toEqual(['busy', 1]);
      process.kill(pid, 'SIGCONT');
      expect((await read).status).toBe(200);
      await becomes(pod, 'ready');
      expect(pod.starts().map((one) => one.pid)).toEqual([pid]);
      await expectOneServerAndQuickHealth(watch, 'hung');
    });
  });

  describe('gone', LANE, () => {
    it('a_killed_one_is_started_again_and_the_pages_in_it_fail', IN_ORDER, async (test) => {
      const { pod, watch } = await start(test, {});
      await becomes(pod, 'ready');
      pod.script({ rules: [{ reply: { slowFirstTokenMs: 60_000 } }] });
      const pages = await Promise.all([1, 2, 3].map((n) => smallPage(n)));
      const reads = pages.map((page, n) => pod.gateway.read(`page-${n}`, page));
      await until(async () => (await pod.stats()).running === 3, 'three pages are read');
      pod.script({});
      process.kill(pod.starts()[0]?.pid ?? 0, 'SIGKILL');
      for (const read of reads) expect(await read).toMatchObject({ status: 502 });
      await until(() => pod.starts().length === 2, 'it is started again');
      await becomes(pod, 'ready');
      expect((await pod.gateway.read('again', await smallPage(4))).status).toBe(200);
      expect(pod.starts()).toHaveLength(2);
      await expectOneServerAndQuickHealth(watch, 'killed');
    });

    it('one_without_memory_at_its_start_says_so_and_serves_once_it_has_enough', IN_ORDER, async (test) => {
      const { pod, watch } = await start(test, { script: { startMs: 300, startFails: 'oom' } });
      await becomes(pod, 'dead');
      const { body } = await pod.gateway.ask('GET', '/healthz');
      expect(body.engineFault).toContain('out of memory');
      expect(body.engineFault).toContain('CUDA out of memory (simulated');
      expect(await pod.gateway.read('page-1', await smallPage(1))).toMatchObject({ status: 503 });
      pod.script({});
      await becomes(pod, 'ready');
      expect((await pod.gateway.ask('GET', '/healthz')).body.engineFault).toBeUndefined();
      expect((await pod.gateway.read('page-2', await smallPage(1))).status).toBe(200);
      await expectOneServerAndQuickHealth(watch, 'out of memory');
    });

    it('one_that_answers_but_cannot_infer_is_not_ready (vllm#24207)', IN_ORDER, async (test) => {
      const broken = { rules: [{ reply: { error: { status: 500 } } }] };
      const { pod, watch } = await start(test, { script: broken });
      await until(() => pod.gateway.events('trial_page_failed').length >= 1, 'its trial page fails');
      expect(await pod.state()).toBe('starting');
      pod.script({});
      await becomes(pod, 'ready');
      expect(pod.starts()).toHaveLength(1);
      await expectOneServerAndQuickHealth(watch, 'cannot infer');
    });
  });

  describe('slow', LANE, () => {
    it('callers_at_once_wait_for_the_one_start_of_a_slow_one', IN_ORDER, async (test) => {
      const { pod, watch } = await start(test, { script: { startMs: 10_000 } });
      const pages = await Promise.all([1, 2, 3, 4].map((n) => smallPage(n)));
      const reads = pages.map((page, n) => pod.gateway.read(`page-${n}`, page));
      await until(() => pod.starts().length === 1, 'it starts');
      expect(await pod.state()).toBe('starting');
      const statuses = (await Promise.all(reads)).map(({ status }) => status);
      expect(statuses).toEqual([200, 200, 200, 200]);
      expect(pod.starts()).toHaveLength(1);
      await expectOneServerAndQuickHealth(watch, 'slow to start');
    });

    it('one_that_is_never_ready_is_stopped_before_the_next_one_starts', IN_ORDER, async (test) => {
      const { pod, watch } = await start(test, {
        script: { startMs: 60_000 },
        settings: { serverStartMs: 6_000 },
      });
      await until(() => pod.starts().length === 2, 'it is started a second time');
      pod.script({});
      await becomes(pod, 'ready', 60_000);
      expect(pod.starts().length).toBeGreaterThan(2);
      await expectOneServerAndQuickHealth(watch, 'never ready');
    });
  });

  it('health_answers_in_milliseconds_while_64_pages_run_in_the_engine (R-041, R-043, R-073)', async (test) => {
    const width = 64;
    const { pod, watch } = await start(test, { width });
    await becomes(pod, 'ready');
    pod.script({ rules: [{ reply: { slowFirstTokenMs: 10_000 } }] });
    const pages = await Promise.all(Array.from({ length: width }, (_, n) => smallPage(n)));
    const reads = pages.map((page, n) => pod.gateway.read(`page-${n}`, page));
    await until(async () => (await pod.stats()).running === width, 'all run in the engine');
    expect(await pod.state()).toBe('busy');
    for (const read of reads) expect((await read).status).toBe(200);
    expect(await pod.stats()).toMatchObject({ maxRunning: width, waiting: 0 });
    await expectOneServerAndQuickHealth(watch, '64 pages');
  });

  it('through_all_of_this_health_answered_within_10_ms', ({ skip }) => {
    if (own.pod.length < MANY_PROBES)
      skip(`only ${own.pod.length} probes: run the whole file, they say nothing about one in a hundred`);
    const [health, beside] = [percentilesOf(own.pod), percentilesOf(own.idle)];
    process.stdout.write(
      `health of the pod ${JSON.stringify(health)}, of an idle one ${JSON.stringify(beside)}\n`,
    );
    expect(health.p99).toBeLessThan(HEALTH_MS + beside.p99);
  });
});
