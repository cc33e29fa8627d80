import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterFile, FleetStatus } from '@pagefleet/contract';
import { createLocalProvider, type ListedPod, type Provider } from '@pagefleet/providers';
import {
  clusterPaths,
  createLogger,
  freePorts,
  loadConfig,
  loadOrCreateSecret,
  programPath,
  realNodeBinary,
} from '@pagefleet/runtime';
import { startNats, type TestNats } from '../../nats-server.ts';

export interface TestCluster {
  readonly cluster: ClusterFile;
  readonly paths: ReturnType<typeof clusterPaths>;
  readonly nats: TestNats;
  readonly operatorToken: string;
  readonly controller: ChildProcess;
  /** starts the controller again, after it ended or was killed */
  startController(): Promise<void>;
  /** sends the signal and waits until the process is gone */
  endController(signal: NodeJS.Signals): Promise<number | null>;
  status(): Promise<FleetStatus>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** the account, as the provider lists it */
  pods(): Promise<ListedPod[]>;
  provider: Provider;
  log(): string;
  [Symbol.asyncDispose](): Promise<void>;
}

interface ClusterOptions {
  /** the text of pagefleet.yaml beside what every test needs */
  readonly yaml: string;
  readonly start?: boolean;
}

/** A state directory as `up` leaves it, a real nats-server, and the real controller as a process of its own. */
export async function startCluster(options: ClusterOptions): Promise<TestCluster> {
  const stateDir = mkdtempSync(join(tmpdir(), 'ctl-'));
  const paths = clusterPaths(stateDir);
  for (const dir of [paths.runDir, paths.controllerDir, paths.workersDir, paths.nginxDir, paths.logsDir]) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  }
  const nats = await startNats();
  const cluster = await clusterFileOf(stateDir, nats, options.yaml);
  const operatorToken = randomBytes(24).toString('hex');
  writeFileSync(paths.clusterFile, JSON.stringify(cluster), { mode: 0o600 });
  writeFileSync(paths.operatorTokenFile, operatorToken, { mode: 0o600 });
  const logger = createLogger({ component: 'test', level: 'error' });
  const provider = createLocalProvider({
    accountDir: paths.accountDir,
    nodeBinary: cluster.nodeBinary,
    logger,
  });
  const url = `http://127.0.0.1:${cluster.ports.controller}`;
  let controller: ChildProcess | null = null;

  const kit: TestCluster = {
    ...{ cluster, paths, nats, operatorToken, provider },
    get controller() {
      if (controller === null) throw new Error('the controller was not started');
      return controller;
    },
    async startController() {
      const log = openSync(paths.logFile('controller'), 'a');
      controller = spawn(cluster.nodeBinary, [programPath('controller')], {
        stdio: ['ignore', log, log],
        env: { ...process.env, PAGEFLEET_STATE: stateDir },
      });
      closeSync(log);
      const child = controller;
      await until(
        async () => child.exitCode !== null || (await answers(`${url}/healthz`)),
        'the controller answers',
      );
    },
    async endController(signal) {
      if (controller === null || controller.exitCode !== null || controller.signalCode !== null) return null;
      const gone = once(controller, 'exit');
      controller.kill(signal);
      const [code] = (await gone) as [number | null];
      return code;
    },
    async status() {
      return (await (await kit.get('/v1/fleet/status')).json()) as FleetStatus;
    },
    get: (path, headers = {}) => fetch(`${url}${path}`, { headers }),
    post: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    pods: () => provider.list(),
    log: () => readFileSync(paths.logFile('controller'), 'utf8'),
    async [Symbol.asyncDispose]() {
      await kit.endController('SIGKILL');
      await endPods(provider);
      await nats.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
  if (options.start !== false) await kit.startController();
  return kit;
}

async function clusterFileOf(stateDir: string, nats: TestNats, yaml: string): Promise<ClusterFile> {
  const paths = clusterPaths(stateDir);
  const file = join(stateDir, 'pagefleet.yaml');
  writeFileSync(file, yaml);
  const { config } = loadConfig({ file, env: {}, cwd: stateDir });
  const [controllerPort, backup, ...workers] = await freePorts(2 + config.workers);
  if (controllerPort === undefined || backup === undefined) throw new Error('no free port');
  return {
    v: 1,
    clusterId: loadOrCreateSecret(paths.secretFile).clusterId,
    stateDir,
    config,
    ports: { nats: Number(new URL(nats.url).port), controller: controllerPort, backup, workers },
    natsUrl: nats.url,
    natsCredentialsFile: nats.credentialsFile,
    secretFile: paths.secretFile,
    operatorTokenFile: paths.operatorTokenFile,
    nodeBinary: realNodeBinary(),
  };
}

async function endPods(provider: Provider): Promise<void> {
  await until(async () => {
    const pods = await provider.list();
    await Promise.all(pods.map((pod) => provider.terminate(pod.id)));
    return pods.length === 0;
  }, 'all pods of the test are gone');
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}

/** Waits until `holds` says so; a test that hangs here names what it waited for. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 40_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(20);
  }
}
