/** A whole cluster under more work than it can do: replacement, overload, and a document wider than one worker's share. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
import { makePdf } from '../integration/dataplane/make-pdf.ts';
import { shoot, startLoad, whitePage } from '../load.ts';
import { longestIdleMs, observeReadings, readTwice } from '../pod-reads.ts';

const WIDTH = 2;
const PODS = 3;
const POOL = { name: 'ocr', engine: 'sleep', sleep: '200ms', width: WIDTH, min_pods: PODS, max_pods: PODS };
const FITS = 24;
const UPLOAD_BYTES = 50_000_000;
/** Of an upload that is refused; the kernels on its way hold more, by the machine's settings. */
const A_FEW_MB = 5_000_000;

let cluster: TestCluster;
let page: Buffer;

beforeAll(async () => {
  page = await whitePage();
  cluster = await startCluster({
    pools: [POOL],
    limits: { max_in_flight: FITS / 2, max_queued: FITS / 2 },
  });
  await cluster.whole(PODS);
});

afterAll(async () => {
  expect((await cluster?.down())?.code).toBe(0);
});

const target = () => ({ url: `${cluster.url}/v1/ocr`, body: page, contentType: 'image/png' });

/** Each replacement takes some 5 s: the full twenty are for `SIGHUPS=20`. */
const SIGHUPS = Number(process.env.SIGHUPS ?? 5);

test(
  `SIGHUP_on_the_worker_group_${SIGHUPS}_times_under_load_fails_no_request (R-004)`,
  async () => {
    const load = startLoad({ ...target(), concurrency: 8 });
    for (let n = 0; n < SIGHUPS; n += 1) {
      const before = cluster.pidsOf('worker');
      cluster.kill('workers', 'SIGHUP');
      await expect
        .poll(() => cluster.pidsOf('worker').filter((pid) => before.includes(pid)), {
          timeout: 90_000,
          interval: 500,
        })
        .toEqual([]);
      await cluster.whole(PODS);
    }
    const shots = await load.stop();
    const failed = shots.filter(({ ok }) => !ok).map(({ status, code }) => `${status} ${code}`);
    process.stdout.write(`SIGHUP × ${SIGHUPS}: ${shots.length} requests, ${failed.length} failed\n`);
    expect(failed).toEqual([]);
    expect(readTwice(observeReadings(cluster.stateDir))).toEqual([]);
  },
  SIGHUPS * 60_000 + 60_000,
);

describe('overload (R-013)', () => {
  test('twice_what_fits_is_200_or_429_and_nothing_unclean', async () => {
    const load = startLoad({ ...target(), concurrency: 2 * FITS });
    await sleep(6_000);
    const shots = await load.stop();
    const kinds = Map.groupBy(shots, ({ status, code }) => `${status} ${code}`);
    process.stdout.write(`flood: ${[...kinds].map(([kind, all]) => `${all.length} × ${kind}`).join(', ')}\n`);
    expect([...kinds.keys()].sort()).toEqual(['200 null', '429 queue_full']);
  });

  test('of_a_50_mb_upload_that_does_not_fit_a_few_mb_are_read_and_the_answer_says_when_to_come_back', async () => {
    const load = startLoad({ ...target(), concurrency: 2 * FITS });
    await sleep(1_000);
    const before = bytesReadBy(cluster.pidsOf('worker'));
    const uploads: Upload[] = [];
    const refusedOnes = () => uploads.filter(({ status }) => status === 429);
    for (let round = 0; round < 10 && refusedOnes().length < 3; round += 1) {
      uploads.push(...(await Promise.all(Array.from({ length: 4 }, () => upload(UPLOAD_BYTES)))));
    }
    const read = bytesReadBy(cluster.pidsOf('worker')) - before;
    await load.stop();
    const refused = refusedOnes();
    process.stdout.write(
      `${refused.length} of ${uploads.length} uploads of 50 MB refused; the workers read ${(read / 1e6).toFixed(1)} MB\n`,
    );
    expect(refused.length).toBeGreaterThanOrEqual(3);
    const admittedBytes = (uploads.length - refused.length) * UPLOAD_BYTES;
    expect(read).toBeLessThan(admittedBytes + refused.length * A_FEW_MB);
    for (const { headers } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      for (const name of ['page-width', 'queue-limit', 'pages-in-flight', 'pages-queued']) {
        expect(headers[`x-ocr-${name}`], name).toMatch(/^\d+$/);
      }
    }
  });

  test('afterwards_nothing_is_held', async () => {
    await cluster.until(
      'nothing in flight and waiting',
      ({ summary }) => summary.pages_in_flight + summary.pages_waiting === 0,
    );
    expect((await shoot({ ...target(), concurrency: 1 })).ok).toBe(true);
  });
});

test('one_document_of_200_pages_fills_every_slot_of_every_pod (R-016, L9)', async () => {
  const before = new Set(observeReadings(cluster.stateDir).map(({ pageId }) => pageId));
  const answer = await fetch(`${cluster.url}/v1/ocr`, {
    method: 'POST',
    body: new Uint8Array(makePdf({ pages: 200 })),
  });
  const { pages } = (await answer.json()) as { pages: { index: number; error?: unknown }[] };
  expect(pages.map(({ index }) => index)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  expect(pages.filter(({ error }) => error)).toEqual([]);
  const readings = observeReadings(cluster.stateDir).filter(({ pageId }) => !before.has(pageId));
  expect(readings).toHaveLength(200);
  const idleMs = longestIdleMs(readings, WIDTH);
  process.stdout.write(`200 pages: longest time a slot stood idle while pages waited: ${idleMs} ms\n`);
  expect(idleMs).toBeLessThanOrEqual(500);
});

interface Upload {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
}

function upload(bytes: number): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/pdf', 'content-length': bytes };
    const outgoing = request(target().url, { method: 'POST', headers, agent: false });
    const chunk = Buffer.alloc(64 * 1024);
    let left = bytes;
    const write = () => {
      while (left > 0) {
        const part = chunk.subarray(0, Math.min(left, chunk.length));
        left -= part.length;
        if (!outgoing.write(part)) return outgoing.once('drain', write);
      }
      return outgoing.end();
    };
    outgoing.on('response', (incoming) => {
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers });
      outgoing.destroy();
    });
    outgoing.on('error', reject);
    write();
  });
}

/** From files, sockets and pipes, since each process began. */
function bytesReadBy(pids: readonly number[]): number {
  const readBy = (pid: number) => Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
  return pids.reduce((bytes, pid) => bytes + readBy(pid), 0);
}
