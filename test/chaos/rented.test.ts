/**
 * Pods that cost money, from the pretended RunPod (R-035 … R-039, R-051, L1, L7, L8): the controller is killed at each step
 * of a rent, and a cluster's memory is lost while its pods run. What bills is counted in the cloud's own table.
 * A kill at every single await, before the call as well, is `test/sim/world`'s.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterPaths } from '@pagefleet/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
import { whitePage } from '../load.ts';
import { type PretendedCloud, pretendedCloud } from '../pretended-cloud.ts';

const POOL = { name: 'ocr', engine: 'sleep', sleep: '50ms', width: 2 };
const PATIENCE_MS = 40_000;
const CONTROL = { probe_interval: '2s', adoption_interval: '2s' };

let page: Buffer;
beforeAll(async () => {
  page = await whitePage();
});

/** One page, sent once, without retries. */
async function readOne(cluster: TestCluster): Promise<number> {
  const answer = await fetch(`${cluster.url}/v1/ocr`, {
    method: 'POST',
    headers: { 'content-type': 'image/png' },
    body: new Uint8Array(page),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function untilTrue(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    if (await isSo()) return;
    await sleep(50);
  }
  throw new Error(`never came: ${what}`);
}

describe('kill -9 of the controller at each step of a rent', () => {
  let cluster: TestCluster;
  let cloud: PretendedCloud;

  beforeAll(async () => {
    const pools = [{ ...POOL, min_pods: 0, max_pods: 1, idle_timeout: '1h' }];
    cluster = await startCluster({ pools, control: CONTROL }, { provider: 'fake-runpod' });
    cloud = pretendedCloud(cluster.stateDir);
    await cloud.setKnobs({ pod: { bootMs: 500, listenerDelayMs: 0 } });
  });
  afterAll(async () => {
    const result = await cluster?.down();
    expect(result?.code, result?.stderr).toBe(0);
  });

  const bought = async () => (await cloud.all()).length;

  /** Ends the pod of the step before by the console, so that each step begins without one. */
  async function withoutPods(): Promise<void> {
    for (const { id } of await cloud.billing()) await cloud.console('DELETE', `/pods/${id}`);
    await cluster.until('no pod is held', ({ pods }) => pods.length === 0);
  }

  async function strike(when: () => Promise<boolean>): Promise<void> {
    const before = await bought();
    const asked = readOne(cluster).catch(() => 0);
    await untilTrue('the moment of the kill', when);
    cluster.kill('controller', 'SIGKILL');
    await asked;
    await sleep(500);
    await untilTrue('a page is read', async () => (await readOne(cluster).catch(() => 0)) === 200);
    expect(await cloud.billing()).toHaveLength(1);
    expect((await bought()) - before).toBe(1);
    const { pods } = await cluster.status();
    expect(pods.map(({ id }) => id)).toEqual((await cloud.billing()).map(({ id }) => id));
  }

  test('the_call_is_under_way', async () => {
    await withoutPods();
    const before = await bought();
    await cloud.nextCreates(1, { answerDelayMs: 3_000 });
    await strike(async () => (await bought()) > before);
  });

  test('the_pod_is_bought_and_the_answer_was_cut', async () => {
    await withoutPods();
    const before = await bought();
    await cloud.nextCreates(1, { answer: 'created-then-cut' });
    await strike(async () => (await bought()) > before);
  });

  test('the_pod_is_bought_and_cannot_be_seen_for_a_while', async () => {
    await withoutPods();
    const before = await bought();
    await cloud.nextCreates(1, { answerDelayMs: 3_000, invisibleMs: 4_000 });
    await strike(async () => (await bought()) > before);
  });

  test('the_answer_is_just_in', async () => {
    await withoutPods();
    await strike(async () => (await cluster.status()).pods.some(({ state }) => state === 'booting'));
  });
});

describe('a cluster that lost its memory while 5 pods run', () => {
  let cluster: TestCluster;
  let cloud: PretendedCloud;

  beforeAll(async () => {
    const pools = [{ ...POOL, min_pods: 5, max_pods: 5 }];
    cluster = await startCluster({ pools, control: CONTROL }, { provider: 'fake-runpod' });
    cloud = pretendedCloud(cluster.stateDir);
    await cluster.whole(5);
  });
  afterAll(async () => {
    const result = await cluster?.down();
    expect(result?.code, result?.stderr).toBe(0);
  });

  async function startAgain(change: () => Promise<void> | void): Promise<void> {
    const before = (await cloud.billing()).map(({ id }) => id).sort();
    const left = await cluster.cli(['down', '--keep-pods']);
    expect(left.code, left.stderr).toBe(0);
    const { controllerDir, natsDir } = clusterPaths(cluster.stateDir);
    for (const folder of [controllerDir, natsDir]) rmSync(folder, { recursive: true });
    await change();
    const up = await cluster.up();
    expect(up.code, up.stderr).toBe(0);
    await cluster.whole(5);
    expect((await cloud.billing()).map(({ id }) => id).sort()).toEqual(before);
    expect((await cluster.status()).pods.map(({ id }) => id).sort()).toEqual(before);
    expect(await Promise.all(Array.from({ length: 10 }, () => readOne(cluster)))).toEqual(
      Array(10).fill(200),
    );
  }

  test('has_all_5_serving_again_under_their_own_tokens_with_the_secret_alone', () =>
    startAgain(() => undefined));

  test('one_renamed_in_the_console_and_the_secret_rotated', async () => {
    const [pod] = await cloud.billing();
    const { secretFile } = clusterPaths(cluster.stateDir);
    await startAgain(async () => {
      expect((await cloud.console('PATCH', `/pods/${pod?.id}`, { name: 'mine' })).status).toBe(200);
      const secret = JSON.parse(readFileSync(secretFile, 'utf8')) as { keys: Record<string, string> };
      const keys = { ...secret.keys, newer: randomBytes(32).toString('hex') };
      writeFileSync(secretFile, JSON.stringify({ ...secret, current: 'newer', keys }));
    });
  });

  test('pods_of_another_cluster_on_the_account_are_left_alone', async () => {
    const [pod] = await cloud.billing();
    const env = { PAGEFLEET_POD_CLUSTER_ID: 'another', PAGEFLEET_POD_POD_KEY: 'a'.repeat(32) };
    const body = {
      ...{
        name: pod?.request.name,
        image: 'somebody/else:1',
        cloud: 'SECURE',
        disk: 10,
        ports: ['8000/tcp'],
      },
      ...{ gpu: { id: 'NVIDIA A40', count: 1 }, env },
    };
    const created = await cloud.console('POST', '/pods', body);
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    await sleep(5_000);
    expect((await cloud.billing()).map((one) => one.id)).toContain(id);
    expect((await cluster.status()).pods.map((one) => one.id)).not.toContain(id);
    await cloud.console('DELETE', `/pods/${id}`);
  });
});
