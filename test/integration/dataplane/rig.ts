import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelNamesOf, type Slice, type SlicePod } from '@pagefleet/contract';
import { createDataplane, type Dataplane } from '@pagefleet/dataplane';
import { clusterPaths, createHttpApp, createLogger, loadConfig } from '@pagefleet/runtime';
import { expect, onTestFinished } from 'vitest';
import { type Behaviour, type FakePod, startFakePod } from './fake-pod.ts';

export interface Rig {
  readonly url: string;
  readonly port: number;
  readonly dataplane: Dataplane;
  readonly pods: readonly FakePod[];
  /** Gives the worker these pods; each call is the next revision. */
  grant(pods: readonly Partial<SlicePod>[], change?: Partial<Slice>): void;
  post(body: RequestInit['body'], headers?: Record<string, string>, path?: string): Promise<Response>;
  /** Waits until nothing is held any more: slots, units, bytes, spool files. */
  expectAllGivenBack(): Promise<void>;
}

export interface RigOptions {
  /** one fake pod per entry */
  readonly pods?: readonly (readonly Behaviour[])[];
  readonly width?: number;
  readonly env?: Record<string, string>;
  readonly limits?: Partial<Slice['limits']>;
  /** gets what ends it; the end of the test when left out */
  readonly onEnd?: (end: () => Promise<void>) => void;
}

const LIMITS = { maxInFlight: 64, maxQueued: 64, maxMemoryBytes: 64_000_000, maxSpoolBytes: 1_000_000_000 };

/** One data plane with its HTTP server and fake pods, without nginx, NATS and controller. Ends with the test. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const stateDir = await mkdtemp(join(tmpdir(), 'pagefleet-dataplane-'));
  const { spoolDir } = clusterPaths(stateDir);
  await mkdir(spoolDir);
  const { config } = loadConfig({ env: { PAGEFLEET_WORKERS: '1', ...options.env }, cwd: stateDir });
  const logger = createLogger({ component: 'test', level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const dataplane = createDataplane({
    config,
    clusterId: 'c1',
    bootId: 'boot',
    worker: 0,
    epoch: 1,
    stateDir,
    logger,
  });
  const app = createHttpApp({ name: 'worker', logger, requestTimeoutMs: 0 });
  dataplane.registerRoutes(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const pods = await Promise.all((options.pods ?? [[]]).map((behaviour) => startFakePod(...behaviour)));

  let rev = 0;
  const grant: Rig['grant'] = (granted, change = {}) => {
    rev += 1;
    const servingOf = (name: string) =>
      granted.filter(({ pool = 'ocr', mode = 'serve' }) => pool === name && mode === 'serve').length;
    const applied = dataplane.applySlice({
      v: 1,
      bootId: 'boot',
      epoch: 1,
      rev,
      pods: granted.map((pod, i) => ({
        id: `p${i}`,
        pool: 'ocr',
        url: pods[i]?.url ?? 'http://127.0.0.1:1',
        token: `token-${i}`,
        width: options.width ?? 2,
        mode: 'serve',
        answeredSuspect: 0,
        ...pod,
      })),
      pools: config.pools.map((pool) => ({
        name: pool.name,
        models: modelNamesOf(pool),
        suspendedUntilMs: 0,
        servingPods: servingOf(pool.name),
      })),
      limits: { ...LIMITS, ...options.limits },
      ...change,
    });
    expect(applied).toBe(true);
  };
  grant(pods.map(() => ({})));

  (options.onEnd ?? onTestFinished)(async () => {
    app.server.closeAllConnections();
    await app.close();
    await Promise.all(pods.map((pod) => pod.close()));
    await dataplane.close();
    await rm(stateDir, { recursive: true, force: true });
  });

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    dataplane,
    pods,
    grant,
    post: (body, headers = {}, path = '/v1/ocr') =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        body: body ?? null,
        headers,
        duplex: 'half',
      } as RequestInit),
    async expectAllGivenBack() {
      await expect.poll(() => held(dataplane), { timeout: 5_000 }).toEqual(NOTHING_HELD);
      await expect.poll(() => readdir(spoolDir), { timeout: 2_000 }).toEqual([]);
    },
  };
}

const NOTHING_HELD = {
  open: 0,
  inflight: 0,
  waiting: 0,
  unsplit: 0,
  queued: '0',
  bytesInMemory: 0,
  bytesSpooled: 0,
};

function held(dataplane: Dataplane) {
  const report = dataplane.report();
  const sum = (pick: (pool: (typeof report.pools)[string]) => number) =>
    Object.values(report.pools).reduce((total, pool) => total + pick(pool), 0);
  return {
    open: dataplane.open(),
    inflight: Object.values(report.pods).reduce((total, pod) => total + pod.inflight, 0),
    waiting: sum((pool) => pool.waiting),
    unsplit: sum((pool) => pool.unsplit),
    queued: '0',
    bytesInMemory: report.totals.bytesInMemory,
    bytesSpooled: report.totals.bytesSpooled,
  };
}
