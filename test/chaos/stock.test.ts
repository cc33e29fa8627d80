/**
 * A pool on a stock vLLM image, from the pretended RunPod: the companion that was sent runs in its pods, beside a simulated
 * model server (decision 0012, R-035, R-040, R-044).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
import { whitePage } from '../load.ts';
import { leftInTheTable, type PretendedCloud, pretendedCloud } from '../pretended-cloud.ts';

async function chat(cluster: TestCluster, model: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${cluster.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 }),
    signal: AbortSignal.timeout(40_000),
  });
  return { status: answer.status, text: await answer.text() };
}

/** One after the other on one cluster, in this order. */
describe('a pool that reads with surya, on rented stock pods', () => {
  let cluster: TestCluster;
  let cloud: PretendedCloud;
  let pod: string | undefined;

  beforeAll(async () => {
    const pool = { name: 'ocr', engine: 'surya', width: 4, min_pods: 1, max_pods: 1, idle_timeout: '1h' };
    cluster = await startCluster(
      { pools: [pool], control: { probe_interval: '2s', adoption_interval: '2s' } },
      { provider: 'fake-runpod' },
    );
    cloud = pretendedCloud(cluster.stateDir);
  });
  afterAll(async () => {
    await cluster?.down();
  });

  test('rents_one_which_serves_and_says_what_it_runs (R-045)', async () => {
    const { pods } = await cluster.until('a pod serves', ({ summary }) => summary?.pods_ready === 1);
    expect(pods).toHaveLength(1);
    pod = pods[0]?.id ?? undefined;
    expect(pods[0]?.settings).toMatchObject({ engine: 'surya', width: 4 });
    expect(pods[0]).toMatchObject({ warnings: [] });
    const [bought] = (await cloud.all()) as unknown as { request: { image: string; entrypoint: string[] } }[];
    expect(bought?.request).toMatchObject({ entrypoint: ['python3'] });
    expect(bought?.request.image).toMatch(/^vllm\/vllm-openai:/);
  });

  test('chat_by_the_names_of_the_pool_and_of_its_model_is_answered_by_it (R-024)', async () => {
    for (const model of ['ocr', 'datalab-to/surya-ocr-2']) {
      const { status, text } = await chat(cluster, model);
      expect([status, text]).toEqual([200, expect.stringContaining('simulated')]);
    }
  });

  test('a_page_is_drawn_and_prompted_by_the_worker_and_read_by_it (R-070)', async () => {
    const answer = await fetch(`${cluster.url}/v1/ocr`, {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: new Uint8Array(await whitePage()),
      signal: AbortSignal.timeout(40_000),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('simulated')]);
  });

  test('is_adopted_and_used_again_after_the_controller_was_killed (R-035)', async () => {
    const [before] = cluster.kill('controller', 'SIGKILL');
    await cluster.until('another controller holds the pod', ({ summary, pods }) => {
      const [now] = cluster.pidsOf('controller');
      return now !== undefined && now !== before && summary?.pods_ready === 1 && pods?.[0]?.id === pod;
    });
    expect((await chat(cluster, 'ocr')).status).toBe(200);
    expect((await cloud.all()).length).toBe(1);
  });

  test('down_leaves_none_in_the_clouds_table_and_no_process (R-039)', async () => {
    const result = await cluster.cli(['down']);
    expect(result.code, result.stderr).toBe(0);
    expect(await leftInTheTable(cluster.stateDir)).toEqual([]);
    expect(cluster.pidsOf('pod')).toEqual([]);
  });
});
