import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterFile, Slice } from '@pagefleet/contract';
import {
  clusterPaths,
  connectBus,
  createLogger,
  freePorts,
  loadConfig,
  programPath,
} from '@pagefleet/runtime';
import { type Child, startProgram, watch } from './child.ts';

export interface LoneWorker {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * One forwarding worker with a real nats-server and a slice of the given pods, without controller and nginx: the bench
 * itself hands out the slice. `settings` as in `pagefleet.yaml`; its pool is the first one.
 */
export async function startLoneWorker(
  stateDir: string,
  podPorts: readonly number[],
  width: number,
  settings: object = {},
): Promise<LoneWorker> {
  const [nats = 0, backup = 0] = await freePorts(2);
  const file = await writeState(stateDir, settings, { nats, backup });
  const bus = watch(spawn('nats-server', ['-c', clusterPaths(stateDir).natsConfFile], { stdio: 'ignore' }));
  await nameEpoch(file);
  const worker = startProgram(programPath('worker'), ['--backup'], { PAGEFLEET_STATE: stateDir });
  await grant(file, podPorts, width);
  return {
    url: `http://127.0.0.1:${backup}/v1/ocr`,
    pid: worker.pid,
    stop: async () => {
      await stopAll([worker, bus]);
    },
  };
}

async function writeState(
  stateDir: string,
  settings: object,
  { nats, backup }: { nats: number; backup: number },
): Promise<ClusterFile> {
  const paths = clusterPaths(stateDir);
  await writeFile(join(stateDir, 'pagefleet.yaml'), JSON.stringify(settings));
  const { config } = loadConfig({ env: { PAGEFLEET_LIMITS_MAX_IN_FLIGHT: '256' }, cwd: stateDir });
  const pass = randomBytes(16).toString('hex');
  for (const folder of [paths.natsDir, paths.runDir, paths.spoolDir])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(paths.natsCredentialsFile, JSON.stringify({ user: 'bench', pass }), { mode: 0o600 });
  const conf = `host: 127.0.0.1\nport: ${nats}\njetstream { store_dir: "${paths.natsDir}" }\nauthorization { user: bench, password: "${pass}" }\n`;
  await writeFile(paths.natsConfFile, conf, { mode: 0o600 });
  const file: ClusterFile = {
    v: 1,
    clusterId: 'bench',
    stateDir,
    config,
    ports: { nats, controller: 1, backup, workers: [] },
    natsUrl: `nats://127.0.0.1:${nats}`,
    natsCredentialsFile: paths.natsCredentialsFile,
    secretFile: paths.secretFile,
    operatorTokenFile: paths.operatorTokenFile,
    nodeBinary: process.execPath,
  };
  await writeFile(paths.clusterFile, JSON.stringify(file), { mode: 0o600 });
  return file;
}

const connect = (file: ClusterFile) =>
  connectBus({
    url: file.natsUrl,
    credentialsFile: file.natsCredentialsFile,
    name: 'bench',
    logger: createLogger({ component: 'bench', level: 'error' }),
  });

/** A worker born in an epoch may be given width at once. */
async function nameEpoch(file: ClusterFile): Promise<void> {
  const bus = await connect(file);
  while (!bus.connected()) await new Promise((resolve) => setTimeout(resolve, 20));
  await bus.bucket('control').write('epoch', { v: 1, epoch: 1, controllerId: 'bench', atMs: Date.now() }, 0);
  await bus.close();
}

/** Waits for the worker's first report, gives it the pods and waits until it has them. */
async function grant(file: ClusterFile, podPorts: readonly number[], width: number): Promise<void> {
  const bus = await connect(file);
  const bootId = await new Promise<string>((resolve) => bus.subscribe('report', (key) => resolve(key)));
  const pool = file.config.pools[0]?.name ?? 'ocr';
  const slice: Slice = {
    v: 1,
    bootId,
    epoch: 1,
    rev: 1,
    pods: podPorts.map((port, i) => ({
      id: `bench-${i}`,
      pool,
      url: `http://127.0.0.1:${port}`,
      token: 'bench',
      width,
      mode: 'serve',
      answeredSuspect: 0,
    })),
    pools: [{ name: pool, models: [], suspendedUntilMs: 0 }],
    limits: { maxInFlight: 256, maxQueued: 256, maxMemoryBytes: 512_000_000, maxSpoolBytes: 512_000_000 },
  };
  const acked = new Promise<void>((resolve) =>
    bus.subscribe('report', (_key, report) => report.ack === 1 && resolve()),
  );
  await bus.bucket('slices').write(bootId, slice, 0);
  await acked;
  await bus.close();
}

async function stopAll(children: readonly Child[]): Promise<void> {
  for (const child of children) await child.stop();
}
