/**
 * The kill matrix (R-008, R-003, R-035, L8, L14): 2 workers, 3 local pods, load from a client that never retries, reads
 * counted in the pods' own logs. What is killed may lose what was open in it and nothing else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ProgramName, startCluster, type TestCluster } from '../cluster.ts';
import { startLoad, whitePage } from '../load.ts';
import { observeReadings, readTwice } from '../pod-reads.ts';

const CONCURRENCY = 8;
const POOL = { name: 'ocr', engine: 'sleep', sleep: '250ms', width: 2, min_pods: 3, max_pods: 3 };

let cluster: TestCluster;
let page: Buffer;

beforeAll(async () => {
  page = await whitePage();
  cluster = await startCluster({ pools: [POOL], control: { probe_interval: '2s', adoption_interval: '2s' } });
  await podIds();
});

afterAll(async () => {
  const result = await cluster?.down();
  expect(result?.code).toBe(0);
});

interface Outcome {
  readonly failed: number;
  readonly codes: string[];
  readonly ok: number;
  /** told at once that nobody listens (503 `starting`); such a request was open nowhere */
  readonly refused: number;
  readonly refusedForMs: number;
  readonly openAtKill: number;
}

/** Load before, during and after the blow; every failure must be retryable, every page read once. */
async function underLoad(strike: () => Promise<void> | void, settleMs = 4_000): Promise<Outcome> {
  const load = startLoad({
    url: `${cluster.url}/v1/ocr`,
    body: page,
    contentType: 'image/png',
    concurrency: CONCURRENCY,
  });
  await sleep(1_500);
  const openAtKill = load.open();
  await strike();
  await sleep(settleMs);
  const shots = await load.stop();
  const failed = shots.filter(({ ok }) => !ok);
  expect(failed.filter(({ retryable }) => !retryable)).toEqual([]);
  expect(readTwice(observeReadings(cluster.stateDir))).toEqual([]);
  const refusedAtMs = failed.filter(({ code }) => code === 'starting').map(({ endedMs }) => endedMs);
  return {
    failed: failed.length,
    refused: refusedAtMs.length,
    refusedForMs: refusedAtMs.length === 0 ? 0 : Math.max(...refusedAtMs) - Math.min(...refusedAtMs),
    codes: [...Map.groupBy(failed, ({ status, code }) => `${status} ${code}`)].map(
      ([what, shots]) => `${shots.length} × ${what}`,
    ),
    ok: shots.length - failed.length,
    openAtKill,
  };
}

/** Waits until the cluster is whole again, so that each blow meets a whole one; then names the pods. */
async function podIds(): Promise<string[]> {
  const { pods } = await cluster.whole(3);
  return pods
    .filter(({ state }) => state === 'serving')
    .map(({ id }) => id)
    .sort();
}

function killFirst(program: ProgramName): void {
  const [pid] = cluster.pidsOf(program);
  if (pid === undefined) throw new Error(`no process of ${program} to kill`);
  process.kill(pid, 'SIGKILL');
}

describe('kill -9 under load', () => {
  test('a_worker_loses_at_most_what_was_open_in_it', async () => {
    const before = await podIds();
    const outcome = await underLoad(() => killFirst('worker'));
    report('worker', outcome);
    expect(outcome.failed).toBeLessThanOrEqual(outcome.openAtKill);
    expect(await podIds()).toEqual(before);
  });

  test('the_worker_primary_loses_nothing_because_its_workers_outlive_it', async () => {
    const before = await podIds();
    const outcome = await underLoad(() => killFirst('workers'), 8_000);
    report('worker primary', outcome);
    expect(outcome.codes).toEqual([]);
    expect(await podIds()).toEqual(before);
  });

  test('the_controller_loses_nothing_and_its_successor_adopts_the_same_pods', async () => {
    const before = await podIds();
    const outcome = await underLoad(() => killFirst('controller'), 8_000);
    report('controller', outcome);
    expect(outcome.codes).toEqual([]);
    expect(await podIds()).toEqual(before);
  });

  test('nats_loses_nothing', async () => {
    const before = await podIds();
    const outcome = await underLoad(() => killFirst('nats'), 6_000);
    report('nats-server', outcome);
    expect(outcome.codes).toEqual([]);
    expect(await podIds()).toEqual(before);
  });

  test('nginx_s_master_loses_at_most_what_was_open', async () => {
    const before = await podIds();
    const outcome = await underLoad(() => killFirst('nginx'), 6_000);
    report('nginx master', outcome);
    expect(outcome.failed).toBeLessThanOrEqual(outcome.openAtKill);
    expect(await podIds()).toEqual(before);
  });

  test('a_pod_costs_no_client_an_error_and_is_replaced', async () => {
    const before = await podIds();
    const outcome = await underLoad(() => killFirst('pod'), 8_000);
    report('pod', outcome);
    expect(outcome.codes).toEqual([]);
    const after = await podIds();
    expect(after.filter((id) => before.includes(id))).toHaveLength(2);
  });

  test('supervisord_alone_takes_nothing_with_it_and_up_adopts_the_same_pods', async () => {
    const before = await podIds();
    const outcome = await underLoad(() => killFirst('supervisord'));
    report('supervisord', outcome);
    expect(outcome.codes).toEqual([]);
    const up = await cluster.up();
    expect(up.code, up.stderr).toBe(0);
    expect(await podIds()).toEqual(before);
    report('after up', await underLoad(() => undefined, 1_000));
  });
});

describe('kill -9 of one after the other', () => {
  test('a_worker_then_its_primary_then_the_controller_cost_what_was_open_and_a_moment_of_clear_refusals', async () => {
    const before = await podIds();
    const orphans: number[] = [];
    const outcome = await underLoad(async () => {
      killFirst('worker');
      await sleep(3_000);
      await podIds();
      orphans.push(...cluster.pidsOf('worker'));
      killFirst('workers');
      await sleep(500);
      killFirst('controller');
    }, 8_000);
    report('worker, primary, controller', outcome);
    expect(outcome.failed - outcome.refused).toBeLessThanOrEqual(outcome.openAtKill);
    // While neither workers nor the controller's forwarder listen there is nobody to take a page: as long as a start takes.
    expect(outcome.refusedForMs).toBeLessThan(20_000);
    expect(cluster.pidsOf('worker').filter((pid) => orphans.includes(pid))).toEqual([]);
    expect(await podIds()).toEqual(before);
  });
});

describe('SIGSTOP under load', () => {
  test('a_stopped_worker_delays_its_own_pages_and_fails_none', async () => {
    const before = await podIds();
    const [pid = 0] = cluster.pidsOf('worker');
    const outcome = await underLoad(async () => {
      process.kill(pid, 'SIGSTOP');
      await sleep(4_000);
      process.kill(pid, 'SIGCONT');
    });
    report('worker stopped for 4 s', outcome);
    expect(outcome.codes).toEqual([]);
    expect(await podIds()).toEqual(before);
  });
});

function report(what: string, { ok, failed, openAtKill, codes }: Outcome): void {
  process.stdout.write(
    `killed ${what}: ${ok} ok, ${failed} failed (open at the blow: ${openAtKill}) ${codes.join(', ')}\n`,
  );
}
