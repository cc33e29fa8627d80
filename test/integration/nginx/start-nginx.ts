import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterFile } from '@pagefleet/contract';
import {
  clusterPaths,
  freePorts,
  loadConfig,
  observeNginxBox,
  renderGeneration,
  renderNginxMain,
  repoRoot,
} from '@pagefleet/runtime';

export interface RunningNginx {
  readonly url: string;
  readonly port: number;
  readonly cluster: ClusterFile;
  readonly nginxDir: string;
  readonly master: () => ChildProcess;
  /** starts a second master as supervisord would after the first was killed */
  restart(): Promise<void>;
  log(): string;
  stop(): Promise<void>;
}

const NGINX = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find(existsSync) ?? 'nginx';

/** The real nginx with the rendered files of a cluster, in a temporary state directory, in front of the given ports. */
export async function startNginx(options: {
  readonly workers: readonly number[];
  readonly backup: number;
  readonly controller: number;
  readonly env?: NodeJS.ProcessEnv;
}): Promise<RunningNginx> {
  const stateDir = mkdtempSync(join(tmpdir(), 'pf-nginx-'));
  const paths = clusterPaths(stateDir);
  const [port = 0] = await freePorts(1);
  const { config } = loadConfig({
    cwd: stateDir,
    env: { PAGEFLEET_LISTEN_PORT: String(port), ...options.env },
  });
  const cluster = {
    stateDir,
    config,
    ports: { nats: 0, controller: options.controller, backup: options.backup, workers: options.workers },
  } as ClusterFile;
  mkdirSync(paths.nginxTmpDir, { recursive: true, mode: 0o700 });
  mkdirSync(paths.nginxGenerationDir(1), { mode: 0o700 });
  for (const [name, text] of Object.entries(renderGeneration(cluster, options.workers, 1))) {
    writeFileSync(join(paths.nginxGenerationDir(1), name), text);
  }
  symlinkSync('gen-1', paths.nginxCurrentLink);
  writeFileSync(paths.nginxConfFile, renderNginxMain(cluster, observeNginxBox()));

  const output: string[] = [];
  let child = run();

  function run(): ChildProcess {
    const script = join(repoRoot(), 'supervisord', 'run-nginx.sh');
    const started = spawn('/bin/sh', [script, paths.nginxDir, NGINX], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    started.stderr?.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    return started;
  }

  await listening(port);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    cluster,
    nginxDir: paths.nginxDir,
    master: () => child,
    async restart() {
      const before = readFileSync(paths.nginxPidFile, 'utf8');
      child = run();
      while (!existsSync(paths.nginxPidFile) || readFileSync(paths.nginxPidFile, 'utf8') === before) {
        await sleep(20);
      }
      await listening(port);
    },
    log: () => output.join(''),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const ok = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (ok) return;
    await sleep(25);
  }
  throw new Error(`nobody listens on port ${port}`);
}
