import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterFile, Report, Roster, Slice, SlicePod } from '@pagefleet/contract';
import {
  type Bus,
  clusterPaths,
  connectBus,
  createLogger,
  freePorts,
  loadConfig,
  programPath,
} from '@pagefleet/runtime';
import { expect, onTestFailed, onTestFinished } from 'vitest';
import { COMPILE_CACHE } from '../../compile-cache.ts';
import { startNats, type TestNats } from '../../nats-server.ts';

export interface Group {
  readonly cluster: ClusterFile;
  readonly nats: TestNats;
  readonly bus: Bus;
  /** the newest of each */
  readonly reports: ReadonlyMap<string, Report>;
  readonly allReports: readonly Report[];
  roster(): Roster | null;
  readonly rosters: readonly Roster[];
  readonly primary: { readonly pid: number };
  url(worker: number): string;
  log(): Promise<string>;
  startPrimary(): void;
  /** Waits until the workers of these numbers listen and have a slice. */
  serving(count: number): Promise<void>;
  bootIds(): string[];
  grant(bootId: string, pods: readonly SlicePod[]): Promise<void>;
}

export interface GroupOptions {
  readonly workers: number;
  /** every worker gets these pods at once; none = no slice is written */
  readonly pods?: readonly SlicePod[];
  readonly env?: Record<string, string>;
}

/** A real worker group with a real nats-server; the test stands in for the controller. Ends with the test. */
export async function startGroup(options: GroupOptions): Promise<Group> {
  const stateDir = await mkdtemp(join(tmpdir(), 'pagefleet-group-'));
  const nats = await startNats();
  const cluster = await writeCluster(stateDir, nats, options);
  const logger = createLogger({ component: 'test', level: 'silent' });
  const bus = await connectBus({
    url: nats.url,
    credentialsFile: nats.credentialsFile,
    name: 'test',
    logger,
  });
  await expect.poll(() => bus.connected()).toBe(true);
  await bus.bucket('control').write('epoch', { v: 1, epoch: 1, controllerId: 'test', atMs: Date.now() }, 0);
  const reports = new Map<string, Report>();
  const allReports: Report[] = [];
  const rosters: Roster[] = [];
  const granted = new Map<string, number>();
  const processes: ChildProcess[] = [];

  async function grant(bootId: string, pods: readonly SlicePod[]): Promise<void> {
    const rev = (granted.get(bootId) ?? 0) + 1;
    granted.set(bootId, rev);
    const slice = sliceOf(cluster, { bootId, rev, pods });
    const bucket = bus.bucket('slices');
    const before = await bucket.get(bootId);
    const written = await bucket.write(bootId, slice, before?.revision ?? 0);
    expect(written.kind).toBe('written');
  }

  bus.subscribe('report', (bootId, report) => {
    reports.set(bootId, report);
    allReports.push(report);
  });
  bus.subscribe('roster', (_group, roster) => {
    rosters.push(roster);
    for (const { bootId, state } of roster.workers) {
      if (!options.pods || granted.has(bootId) || state === 'exited' || state === 'orphan') continue;
      void grant(bootId, options.pods).catch(() => granted.delete(bootId));
    }
  });

  const group: Group = {
    cluster,
    nats,
    bus,
    reports,
    allReports,
    rosters,
    roster: () => rosters.at(-1) ?? null,
    get primary() {
      return { pid: processes.at(-1)?.pid ?? 0 };
    },
    url: (worker) => `http://127.0.0.1:${cluster.ports.workers[worker]}`,
    log: () => readFile(join(stateDir, 'workers.log'), 'utf8'),
    startPrimary() {
      processes.push(startProgram([programPath('worker')], stateDir));
    },
    async serving(count) {
      await expect
        .poll(() => listening(group).filter((bootId) => (reports.get(bootId)?.ack ?? 0) > 0).length, {
          timeout: 100_000,
        })
        .toBe(count);
    },
    bootIds: () => listening(group),
    grant,
  };
  group.startPrimary();
  onTestFailed(async () => {
    process.stderr.write(`workers.log:\n${await group.log().catch(String)}\n`);
  });
  onTestFinished(async () => {
    for (const child of processes) await end(child);
    for (const { pid, state } of group.roster()?.workers ?? []) if (state !== 'exited') killQuietly(pid);
    await bus.close();
    await nats.stop();
    await rm(stateDir, { recursive: true, force: true });
  });
  return group;
}

function startProgram(args: readonly string[], stateDir: string): ChildProcess {
  const log = join(stateDir, 'workers.log');
  return spawn('/bin/sh', ['-c', 'exec "$0" "$@" >>"$LOG" 2>&1', process.execPath, ...args], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, PAGEFLEET_STATE: stateDir, LOG: log },
  });
}

async function writeCluster(
  stateDir: string,
  nats: TestNats,
  { workers, env }: GroupOptions,
): Promise<ClusterFile> {
  const paths = clusterPaths(stateDir);
  for (const folder of [paths.runDir, paths.spoolDir, paths.workersDir])
    await mkdir(folder, { recursive: true });
  const { config } = loadConfig({ env: { PAGEFLEET_WORKERS: String(workers), ...env }, cwd: stateDir });
  const [controller = 0, backup = 0, ...ports] = await freePorts(2 + workers);
  const cluster: ClusterFile = {
    v: 1,
    clusterId: 'c1',
    stateDir,
    config,
    ports: { nats: 1, controller, backup, workers: ports },
    natsUrl: nats.url,
    natsCredentialsFile: nats.credentialsFile,
    secretFile: paths.secretFile,
    operatorTokenFile: paths.operatorTokenFile,
    nodeBinary: process.execPath,
  };
  await writeFile(paths.clusterFile, JSON.stringify(cluster));
  return cluster;
}

function sliceOf(
  cluster: ClusterFile,
  { bootId, rev, pods }: { bootId: string; rev: number; pods: readonly SlicePod[] },
): Slice {
  return {
    v: 1,
    bootId,
    epoch: 1,
    rev,
    pods: [...pods],
    pools: cluster.config.pools.map(({ name, models }) => ({
      name,
      models: [...models],
      suspendedUntilMs: 0,
    })),
    limits: { maxInFlight: 256, maxQueued: 256, maxMemoryBytes: 64_000_000, maxSpoolBytes: 64_000_000 },
  };
}

function listening(group: Group): string[] {
  return (group.roster()?.workers ?? [])
    .filter(({ state }) => state === 'listening')
    .map(({ bootId }) => bootId);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

export function podOf(url: string, width = 64): SlicePod {
  return { id: 'p0', pool: 'ocr', url, token: 'token', width, mode: 'serve', answeredSuspect: 0 };
}
