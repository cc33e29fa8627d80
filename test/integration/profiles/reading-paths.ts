import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINE_PROFILES, type ProfileName } from '@pagefleet/contract';
import { launchCommand } from '@pagefleet/core';
import { loadConfig } from '@pagefleet/runtime';
import type { KnownPage, RequestRecord, Rule } from '@pagefleet/sim/vllm';
import { SIMULATED_VLLM, startCompanion, TOKEN } from '../companion/companion-process.ts';
import { type Rig, startRig } from '../dataplane/rig.ts';
import { until } from '../gateway/gateway-process.ts';
import { startModelGateway } from '../gateway/model-gateway.ts';

export const PLACEMENTS = ['pod', 'worker'] as const;
export type Placement = (typeof PLACEMENTS)[number];

/** A worker, and the pod behind it with a simulated vLLM inside. */
export interface ReadingPath {
  /** of one document of one page, with its blocks and its confidence */
  read(page: Uint8Array): Promise<PathAnswer>;
  /** what the simulated vLLM was asked for, in the order in which it came */
  requests(): RequestRecord[];
  /** every request that came has been written down */
  quiet(): Promise<void>;
}

export interface PathAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface PathOptions {
  readonly profile: ProfileName;
  readonly pages: readonly KnownPage[];
  readonly rules: readonly Rule[];
  readonly reading: object;
  /** gets what ends it */
  readonly onEnd: (end: () => Promise<void>) => void;
}

/** As the data plane of a test calls itself. */
const CLUSTER = 'c1';
/** As many pages are under way at once. */
const WIDTH = 32;
/** The worker knows the pod by so many names: one that a page has set aside keeps no other page from being read. */
const NAMES = 24;

/** The whole path of a page: worker → our gateway → vLLM, or worker → the companion of a stock image → vLLM. */
export async function startReadingPath(placement: Placement, options: PathOptions): Promise<ReadingPath> {
  const folder = mkdtempSync(join(tmpdir(), 'known-pages-'));
  options.onEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const pages = join(folder, 'pages.json');
  writeFileSync(pages, JSON.stringify(options.pages));
  const script = { repeatable: true, cuts: 0.5, seed: 7, pages, rules: options.rules };
  const { onEnd, profile } = options;
  const env = environmentOf(placement, options);
  const launch = launchOf(profile, env);
  const pod =
    placement === 'pod'
      ? startGatewayPod({ ...options, script, launch })
      : startStockPod({ ...options, script, launch });
  const rig = await startRig({
    ...{ pods: [], env, onEnd, width: WIDTH },
    limits: { maxInFlight: 256, maxQueued: 256 },
  });
  await pod.ready();
  const url = `http://127.0.0.1:${await pod.port()}`;
  rig.grant(Array.from({ length: NAMES }, (_, n) => ({ id: `pod-${n}`, url, token: TOKEN, width: 4 })));
  const requests = (): RequestRecord[] => pod.requests().toSorted((a, b) => a.atMs - b.atMs);
  return {
    requests,
    read: (page) => readPage(rig, page),
    quiet: () =>
      until(async () => (await pod.asked()) === requests().length, 'all requests are written down'),
  };
}

function environmentOf(placement: Placement, { profile, reading }: PathOptions): Record<string, string> {
  const rented = placement === 'worker';
  const pool = {
    ...{ name: 'ocr', engine: profile, placement, width: WIDTH, reading },
    vllm: { command: SIMULATED_VLLM },
    ...(rented ? { provider: 'runpod', machine: { max_usd_per_hour: 1 } } : {}),
  };
  const money = { PAGEFLEET_MONEY_USD_PER_HOUR: '1', PAGEFLEET_MONEY_USD_PER_DAY: '1' };
  return { PAGEFLEET_POOLS: JSON.stringify([pool]), ...(rented ? money : {}) };
}

/** As the controller has it started. */
function launchOf(profile: ProfileName, env: Record<string, string>) {
  const { config } = loadConfig({ env: { PAGEFLEET_WORKERS: '1', ...env }, cwd: tmpdir() });
  const [pool] = config.pools;
  if (pool === undefined) throw new Error('the pool is missing');
  return { pool, ...launchCommand(ENGINE_PROFILES[profile], pool, null) };
}

interface PodOptions extends PathOptions {
  readonly script: object;
  readonly launch: ReturnType<typeof launchOf>;
}

interface SimulatedPod {
  port(): Promise<number>;
  ready(): Promise<void>;
  requests(): RequestRecord[];
  /** by the simulated vLLM's own count */
  asked(): Promise<number>;
}

function startGatewayPod({ profile, script, launch, onEnd }: PodOptions): SimulatedPod {
  const { reading } = launch.pool;
  const pod = startModelGateway({
    ...{ engine: profile, width: WIDTH, script },
    settings: {
      clusterId: CLUSTER,
      serverCommand: [...launch.command],
      readContinuations: reading.continuations,
    },
  });
  onEnd(() => pod.end());
  return {
    port: () => pod.gateway.port(),
    ready: () => until(async () => (await pod.state()) === 'ready', 'the gateway is ready'),
    requests: () => pod.requests() as unknown as RequestRecord[],
    asked: () => countOf(pod.starts().at(-1)?.port),
  };
}

function startStockPod({ script, launch, onEnd }: PodOptions): SimulatedPod {
  const pod = startCompanion({
    ...{ script, onEnd },
    settings: { width: WIDTH, clusterId: CLUSTER, serverCommand: [...launch.command] },
  });
  return {
    port: () => pod.port(),
    ready: async () => void (await pod.until('ready')),
    requests: () =>
      readFileSync(join(pod.dir, 'requests.ndjson'), { encoding: 'utf8', flag: 'a+' })
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as RequestRecord),
    asked: () => countOf(pod.starts().at(-1)?.port),
  };
}

async function countOf(port: number | undefined): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/sim/stats`);
  const { requests, running, waiting } = (await answer.json()) as Record<string, number>;
  return (requests ?? 0) + (running ?? 0) + (waiting ?? 0);
}

async function readPage({ url }: Rig, page: Uint8Array): Promise<PathAnswer> {
  const asked = new URLSearchParams({ include_blocks: 'true', confidence_scores_granularity: 'page' });
  const answer = await fetch(`${url}/v1/ocr?${asked}`, { method: 'POST', body: page });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
