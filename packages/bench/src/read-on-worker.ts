/**
 * Bench: what it costs a worker to draw, ask for and parse a page (stock image), against the same worker sending the same
 * page on as it is (our own image), in alternating rounds; and whether its memory stays where it is.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { repoRoot } from '@pagefleet/runtime';
import { request } from 'undici';
import { type Child, firstLine, startProgram } from './child.ts';
import { drive } from './drive.ts';
import { type LoneWorker, startLoneWorker } from './lone-worker.ts';
import { median } from './median.ts';
import { processCpuMicros } from './process-cpu.ts';

const { values } = parseArgs({
  options: {
    file: { type: 'string', default: join(repoRoot(), 'docs/sample/scan.pdf') },
    engine: { type: 'string', default: 'surya' },
    rounds: { type: 'string', default: '5' },
    /** in one round */
    documents: { type: 'string', default: '50' },
    concurrency: { type: 'string', default: '32' },
    /** how long a simulated model takes */
    wait: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
  },
});
const [rounds, documents, concurrency] = [
  Number(values.rounds),
  Number(values.documents),
  Number(values.concurrency),
];
const TYPES: Readonly<Record<string, string>> = { '.pdf': 'application/pdf', '.jpg': 'image/jpeg' };

if (!existsSync(values.file)) throw new Error(`no page in ${values.file}: name one with --file`);
const body = await readFile(values.file);
const contentType = TYPES[extname(values.file)] ?? 'image/png';

/** Nothing is rented here: the bench hands out the slice itself. */
const POOLS = {
  worker: {
    money: { usd_per_hour: 1, usd_per_day: 1 },
    pools: [
      {
        ...{ name: 'bench', engine: values.engine, provider: 'runpod', width: concurrency },
        machine: { max_usd_per_hour: 1 },
      },
    ],
  },
  pod: { pools: [{ name: 'bench', engine: 'sleep', width: concurrency }] },
} as const;

interface Side {
  readonly name: string;
  readonly worker: LoneWorker;
  readonly pods: Child;
  readonly stateDir: string;
  readonly cpuMicros: number[];
  readonly rssMb: number[];
}

async function start(name: 'worker' | 'pod'): Promise<Side> {
  const stateDir = await mkdtemp(join(tmpdir(), 'pagefleet-bench-'));
  const program = name === 'worker' ? 'bench-models.ts' : 'bench-pods.ts';
  const pods = startProgram(join(import.meta.dirname, program), ['3', values.wait]);
  const { ports } = await firstLine<{ ports: number[] }>(pods);
  const worker = await startLoneWorker(stateDir, ports, concurrency, POOLS[name]);
  return { name, worker, pods, stateDir, cpuMicros: [], rssMb: [] };
}

async function run({ worker, cpuMicros, rssMb, name }: Side): Promise<void> {
  const before = await processCpuMicros(worker.pid);
  const result = await drive({ url: worker.url, body, contentType, requests: documents, concurrency });
  if (result.failed > 0)
    throw new Error(`${result.failed} of ${documents} documents failed (read on the ${name})`);
  cpuMicros.push(((await processCpuMicros(worker.pid)) - before) / (documents * pagesEach));
  rssMb.push(rssOf(worker.pid));
}

/** As the worker counts them. */
async function countPages({ worker }: Side): Promise<number> {
  const headers = { 'content-type': contentType };
  const answer = await request(worker.url, { method: 'POST', body, headers });
  const { usage_info: usage } = (await answer.body.json()) as { usage_info?: { pages_processed?: number } };
  return usage?.pages_processed ?? Number.NaN;
}

function rssOf(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(line?.[1]) / 1_024);
}

const sides: Side[] = [];
let pagesEach = 1;
try {
  for (const name of ['pod', 'worker'] as const) sides.push(await start(name));
  if (sides[0]) pagesEach = await countPages(sides[0]);
  // The first round of each warms up and is not counted; its memory is where the series begins.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of sides) {
      await run(side);
      if (round === 0) side.cpuMicros.pop();
    }
  }
  const [pod = Number.NaN, worker = Number.NaN] = sides.map(({ cpuMicros }) => median(cpuMicros) / 1_000);
  const summary = {
    file: values.file,
    ...{ engine: values.engine, pages: documents * pagesEach * rounds, concurrency },
    onPodCpuMsPerPage: Number(pod.toFixed(2)),
    onWorkerCpuMsPerPage: Number(worker.toFixed(2)),
    drawingCpuMsPerPage: Number((worker - pod).toFixed(2)),
    onWorkerPagesPerSecondPerCore: Number((1_000 / worker).toFixed(1)),
    onWorkerRssMb: sides[1]?.rssMb ?? [],
  };
  const lines = Object.entries(summary).map(([name, value]) => `${name.padEnd(30)} ${value}`);
  process.stdout.write(values.json ? `${JSON.stringify(summary)}\n` : `${lines.join('\n')}\n`);
} finally {
  for (const { worker, pods, stateDir } of sides) {
    await worker.stop();
    await pods.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}
