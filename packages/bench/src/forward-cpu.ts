/**
 * Bench: CPU that one worker spends to forward a page, against a bare Node + undici pass-through on the same simulated
 * pods in the same run. CPU per page is the steadiest figure on a noisy machine; rounds alternate, medians are printed.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { firstLine, startProgram } from './child.ts';
import { type DriveResult, drive } from './drive.ts';
import { startLoneWorker } from './lone-worker.ts';
import { median } from './median.ts';
import { processCpuMicros } from './process-cpu.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    pages: { type: 'string', default: '1500' },
    kb: { type: 'string', default: '150' },
    concurrency: { type: 'string', default: '32' },
    json: { type: 'boolean', default: false },
  },
});
const [rounds, pages, concurrency] = [
  Number(values.rounds),
  Number(values.pages),
  Number(values.concurrency),
];

/** A PNG by its first bytes, noise behind: forwarded as one page, never decoded on the way. */
const PNG_HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452000003e8000003e808000000004b6d2983', 'hex');
const body = Buffer.concat([PNG_HEAD, randomBytes(Number(values.kb) * 1_000 - PNG_HEAD.length)]);

interface Round extends DriveResult {
  readonly cpuMicrosPerPage: number;
}

async function measure(url: string, pid: number, requests: number): Promise<Round> {
  const before = await processCpuMicros(pid);
  const result = await drive({ url, body, contentType: 'image/png', requests, concurrency });
  const cpuMicrosPerPage = ((await processCpuMicros(pid)) - before) / requests;
  if (result.failed > 0) throw new Error(`${result.failed} of ${requests} pages failed at ${url}`);
  return { ...result, cpuMicrosPerPage };
}

const stateDir = await mkdtemp(join(tmpdir(), 'pagefleet-bench-'));
const pods = startProgram(join(import.meta.dirname, 'bench-pods.ts'), ['3']);
const { ports } = await firstLine<{ ports: number[] }>(pods);
const peer = startProgram(join(import.meta.dirname, 'pass-through.ts'), [ports.join(',')]);
const { port } = await firstLine<{ port: number }>(peer);
const worker = await startLoneWorker(stateDir, ports, concurrency);
try {
  const peerRounds: Round[] = [];
  const workerRounds: Round[] = [];
  await measure(`http://127.0.0.1:${port}/`, peer.pid, pages / 2);
  await measure(worker.url, worker.pid, pages / 2);
  for (let round = 0; round < rounds; round += 1) {
    peerRounds.push(await measure(`http://127.0.0.1:${port}/`, peer.pid, pages));
    workerRounds.push(await measure(worker.url, worker.pid, pages));
  }
  const [peerCpu, workerCpu] = [peerRounds, workerRounds].map((all) =>
    median(all.map((r) => r.cpuMicrosPerPage)),
  );
  const summary = {
    kb: Number(values.kb),
    pages: pages * rounds,
    concurrency,
    peerCpuMicrosPerPage: peerCpu,
    workerCpuMicrosPerPage: workerCpu,
    ratio: Number(((workerCpu ?? 0) / (peerCpu ?? 1)).toFixed(2)),
    peerPagesPerSecond: Math.round(median(peerRounds.map((r) => (r.ok * 1_000) / r.wallMs))),
    workerPagesPerSecond: Math.round(median(workerRounds.map((r) => (r.ok * 1_000) / r.wallMs))),
    workerP50Ms: median(workerRounds.map((r) => r.latencyP50Ms)),
    workerP99Ms: median(workerRounds.map((r) => r.latencyP99Ms)),
  };
  process.stdout.write(values.json ? `${JSON.stringify(summary)}\n` : table(summary));
} finally {
  await worker.stop();
  await peer.stop();
  await pods.stop();
  await rm(stateDir, { recursive: true, force: true });
}

function table(summary: Record<string, number | undefined>): string {
  return Object.entries(summary)
    .map(
      ([name, value]) => `${name.padEnd(24)} ${typeof value === 'number' ? Number(value.toFixed(2)) : value}`,
    )
    .join('\n')
    .concat('\n');
}
