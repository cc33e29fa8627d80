import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { POD_FILES, type PodStatus } from '@pagefleet/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster, until } from './cluster-kit.ts';
import { type FakeGroup, type FakeWorker, startFakeGroup, widthOf } from './fake-workers.ts';

/** Two real pods, one worker that accuses them; each test leaves two serving pods (R-030 … R-033). */
describe('pods in trouble', () => {
  let kit: TestCluster;
  let group: FakeGroup;
  let worker: FakeWorker;

  beforeAll(async () => {
    kit = await startCluster({
      yaml: `
workers: 1
pools: [{ name: ocr, engine: sleep, sleep: 20ms, width: 2, min_pods: 2, max_pods: 2, boot_deadline: 90s }]
`,
    });
    group = await startFakeGroup(kit, { group: 'workers', bootIds: ['aa'] });
    worker = group.workers[0] as FakeWorker;
    await untilReady(2, 110_000);
    await until(() => widthOf(worker) === 4, 'the worker has all the width');
  }, 120_000);
  afterAll(async () => {
    await group[Symbol.asyncDispose]();
    await kit[Symbol.asyncDispose]();
  }, 60_000);

  async function untilReady(pods: number, limitMs?: number): Promise<void> {
    const isReady = async () => (await kit.status()).summary.pods_ready === pods;
    await until(isReady, `${pods} pods are ready`, limitMs);
  }

  async function first(): Promise<PodStatus> {
    const [pod] = (await kit.status()).pods;
    if (pod === undefined) throw new Error('no pod');
    return pod;
  }

  async function stateOf(id: string): Promise<string> {
    return (await kit.status()).pods.find((pod) => pod.id === id)?.state ?? 'gone';
  }

  function pidOf(id: string): number {
    const file = join(kit.paths.podDir(id), POD_FILES.process);
    return (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid;
  }

  const sliced = (id: string) => worker.slice()?.pods.find((pod) => pod.id === id);

  test('a_suspected_pod_that_answers_is_back_at_full_width_at_once_and_the_suspicion_is_answered', async () => {
    const { id } = await first();
    worker.suspect(id, { kind: 'unreachable', code: 'pod_failed' });
    await until(() => (sliced(id)?.answeredSuspect ?? 0) >= 1, 'the suspicion is answered');
    await until(() => sliced(id)?.width === 2, 'full width');
    expect(await stateOf(id)).toBe('serving');
    expect(kit.log()).toContain('"to":"quarantined"');
  });

  test('a_pod_that_hangs_is_set_aside_counts_as_money_and_comes_back_when_it_answers', async () => {
    const { id } = await first();
    const pid = pidOf(id);
    process.kill(pid, 'SIGSTOP');
    try {
      worker.suspect(id, { kind: 'unreachable', code: 'pod_failed' });
      await until(async () => (await stateOf(id)) === 'quarantined', 'it is set aside');
      const { summary, pods } = await kit.status();
      expect(summary).toMatchObject({ pods_ready: 1, pods_quarantined: 1, pods_booting: 0 });
      // it makes no deficit, so nothing is rented in its place.
      expect(pods).toHaveLength(2);
      await until(() => (sliced(id)?.width ?? 0) === 0, 'no page is sent there');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await stateOf(id)) === 'serving', 'any proven answer restores it');
    await until(() => sliced(id)?.width === 2, 'full width');
  });

  test('a_refusing_pod_comes_back_by_a_trial_page_after_5_s_and_not_by_answering_probes', async () => {
    const { id } = await first();
    const startedMs = Date.now();
    worker.suspect(id, { kind: 'refusing', code: 'engine_failed', document: 'd1' });
    await until(async () => (await stateOf(id)) === 'quarantined', 'it is set aside');
    await until(async () => (await stateOf(id)) === 'serving', 'it reads its trial page');
    expect(Date.now() - startedMs).toBeGreaterThan(4_500);
  });

  test('a_pod_that_is_gone_is_replaced_up_to_the_floor', async () => {
    const { id } = await first();
    process.kill(pidOf(id), 'SIGKILL');
    worker.suspect(id, { kind: 'unreachable', code: 'pod_failed' });
    await until(async () => (await stateOf(id)) === 'gone', 'two listings show it gone');
    await untilReady(2);
    expect(await kit.pods()).toHaveLength(2);
  });

  test('without_nats_nothing_is_rented_status_says_so_and_the_floor_is_filled_when_it_is_back', async () => {
    const { id } = await first();
    await kit.nats.kill('SIGKILL');
    await until(async () => (await kit.status()).degraded.some((one) => one.source === 'bus'), 'degraded');
    process.kill(pidOf(id), 'SIGKILL');
    await until(async () => (await kit.pods()).length === 1, 'one pod is left');
    await sleep(4_000);
    expect(await kit.pods()).toHaveLength(1);
    await kit.nats.restart();
    await until(async () => (await kit.pods()).length === 2, 'the floor is filled');
    await untilReady(2);
  });
});
