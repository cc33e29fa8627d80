/** `workers: 0`: nginx sends everything to the controller's forwarding child (DESIGN 3). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
import { type ChatScripts, chatScripts, knownPage, TRUTH } from './chat-script.ts';
import { modelPool } from './model-pools.ts';
import { openStream } from './raw-stream.ts';

const CHAT = '/v1/chat/completions';
const STREAMED = { model: 'ocr', messages: [{ role: 'user', content: 'talk at length' }], stream: true };
const folder = mkdtempSync(join(tmpdir(), 'chat-'));
const pool = modelPool('ocr', { engine: 'surya', width: 4 });
let cluster: TestCluster;

let scripts: ChatScripts;

beforeAll(async () => {
  scripts = await chatScripts(folder);
  pool.script(scripts.fast);
  cluster = await startCluster({ workers: 0, pools: [pool.settings] });
  await cluster.until('the pod serves', ({ summary }) => summary.pods_ready === 1);
});
afterAll(async () => {
  // What a failed test left open would hold up the end.
  if (cluster) await pool.goOn(scripts.fast);
  await cluster?.down();
  pool.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe('a cluster without workers', () => {
  test('reads_pages_and_passes_streams_as_the_pod_writes_them (R-024, R-070)', async () => {
    expect([cluster.pidsOf('worker'), cluster.pidsOf('backup')]).toMatchObject([[], [expect.any(Number)]]);
    const answer = await fetch(`${cluster.url}/v1/ocr`, {
      ...{ method: 'POST', headers: { 'content-type': 'image/png' } },
      body: new Uint8Array(await knownPage()),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(TRUTH)]);
    const [got, wanted] = await Promise.all(
      [cluster.url, pool.direct()].map(async (url) => (await openStream(`${url}${CHAT}`, STREAMED)).rest()),
    );
    expect(got).toEqual(wanted);
    expect(got?.bytes).toBeGreaterThan(100_000);
  });

  test('an_open_stream_outlives_its_controller (R-024)', async () => {
    pool.script(scripts.slow);
    const end = (await openStream(`${cluster.url}${CHAT}`, STREAMED)).rest();
    await expect
      .poll(async () => (await pool.stats()).map(({ running }) => running), { timeout: 10_000 })
      .toEqual([1]);
    const [before] = cluster.kill('controller', 'SIGKILL');
    await cluster.until('another controller holds the pod', ({ summary }) => {
      const [now] = cluster.pidsOf('controller');
      return now !== undefined && now !== before && summary?.pods_ready === 1;
    });
    await pool.goOn(scripts.fast);
    const wanted = await (await openStream(`${pool.direct()}${CHAT}`, STREAMED)).rest();
    expect(await end).toEqual(wanted);
    // The next one waits for the new controller's child, and is told so.
    const ask = async () => (await openStream(`${cluster.url}${CHAT}`, STREAMED)).rest();
    let next = await ask();
    for (const untilMs = performance.now() + 20_000; next.status === 503 && performance.now() < untilMs; ) {
      expect(next.head).toContain('"code":"starting"');
      await sleep(200);
      next = await ask();
    }
    expect(next).toEqual(wanted);
  });
});
