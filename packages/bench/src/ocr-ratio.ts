/**
 * Bench: pages per second of real OCR through the whole cluster (nginx, worker, pod) against the engine called directly at
 * the same concurrency. The direct peer is the program `tesseract` itself with the arguments that the pods give it, one
 * process per page: the least that anybody can spend on these pages. Rounds alternate, so that other work on the machine
 * meets both.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repoRoot } from '@pagefleet/runtime';
import { request } from 'undici';
import { startWholeCluster } from './whole-cluster.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: join(repoRoot(), '../shared/corpus/pages') },
    /** upright pages only: a turned one is read twice by the pods and once by the peer */
    pages: { type: 'string', default: 'phototest.png,devref20.png,rintro30.png,tracemonkey2.png' },
    reads: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
});
const [reads, rounds, concurrency] = [
  Number(values.reads),
  Number(values.rounds),
  Number(values.concurrency),
];

/** As the pods run it: one thread, automatic segmentation, words with boxes as the answer; the density is in the PNG. */
const TESSERACT_ARGS = ['stdin', 'stdout', '--psm', '3', '-l', 'eng', 'tsv'];

if (!existsSync(values.folder)) {
  throw new Error(`no pages in ${values.folder}: name a folder with --folder and its PNG files with --pages`);
}
const pages = await Promise.all(values.pages.split(',').map((name) => readFile(join(values.folder, name))));

type ReadPage = (page: Buffer) => Promise<void>;

async function readDirectly(page: Buffer): Promise<void> {
  const child = spawn('tesseract', TESSERACT_ARGS, {
    env: { ...process.env, OMP_THREAD_LIMIT: '1' },
    // A session of its own, as every pod is: Linux shares a busy processor by session, not by process.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdout.resume();
  child.stdin.end(page);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`tesseract ended with ${code}`);
}

const readThrough =
  (url: string): ReadPage =>
  async (page) => {
    const answer = await request(`${url}/v1/ocr`, {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: page,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`the cluster answered ${answer.statusCode}: ${text}`);
  };

/** Seconds that `count` reads take, `concurrency` at a time. */
async function timeReads(read: ReadPage, count: number): Promise<number> {
  let started = 0;
  const startedMs = performance.now();
  const lane = async () => {
    while (started < count) {
      const page = pages[started % pages.length];
      started += 1;
      if (page) await read(page);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return (performance.now() - startedMs) / 1_000;
}

const loadBefore = loadavg()[0] ?? Number.NaN;
const cluster = await startWholeCluster(concurrency);
try {
  const through = readThrough(cluster.url);
  // Warm: connections, compiled code, the program's data in the page cache.
  await timeReads(through, concurrency);
  await timeReads(readDirectly, concurrency);
  const seconds: { direct: number; cluster: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    seconds.push({ direct: await timeReads(readDirectly, reads), cluster: await timeReads(through, reads) });
  }
  print(seconds);
} finally {
  await cluster.stop();
}

function print(seconds: readonly { readonly direct: number; readonly cluster: number }[]): void {
  const sum = (of: 'direct' | 'cluster') => seconds.reduce((total, round) => total + round[of], 0);
  const [direct, through] = [sum('direct'), sum('cluster')];
  const all = reads * rounds;
  const summary = {
    reads: all,
    concurrency,
    directPagesPerSecond: Number((all / direct).toFixed(3)),
    clusterPagesPerSecond: Number((all / through).toFixed(3)),
    ratio: Number((direct / through).toFixed(2)),
    ratioPerRound: seconds.map((round) => Number((round.direct / round.cluster).toFixed(2))),
    loadBefore: Number(loadBefore.toFixed(1)),
    loadAfter: Number((loadavg()[0] ?? Number.NaN).toFixed(1)),
  };
  if (values.json) {
    process.stdout.write(`${JSON.stringify(summary)}\n`);
    return;
  }
  const lines = Object.entries(summary).map(([name, value]) => `${name.padEnd(24)} ${String(value)}`);
  lines.push(`direct peer              OMP_THREAD_LIMIT=1 tesseract ${TESSERACT_ARGS.join(' ')}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}
