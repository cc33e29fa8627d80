import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterFile, type FleetStatus, POD_FILES } from '@pagefleet/contract';
import { clusterPaths, freePorts, programPath, realNodeBinary } from '@pagefleet/runtime';
import { request } from 'undici';

/** `workers` is the cluster primary, `worker` its members, `backup` the controller's forwarding child. */
export type ProgramName =
  | 'supervisord'
  | 'nats'
  | 'nginx'
  | 'nginx-worker'
  | 'controller'
  | 'workers'
  | 'worker'
  | 'backup'
  | 'pod';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestCluster {
  /** nginx */
  readonly url: string;
  readonly stateDir: string;
  readonly cluster: ClusterFile;
  readonly operatorToken: string;
  /** `pagefleet <args>` on this cluster's configuration and state */
  cli(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<CliResult>;
  status(): Promise<FleetStatus>;
  /** waits until so many pods serve and 2 workers take pages */
  whole(pods: number): Promise<FleetStatus>;
  /** waits until the status fits; throws with the last one after 60 s */
  until(what: string, fits: (status: FleetStatus) => boolean): Promise<FleetStatus>;
  logs(program: string): string;
  pidsOf(program: ProgramName): number[];
  /** to every process of that name; returns their pids */
  kill(program: ProgramName, signal: NodeJS.Signals): number[];
  /** brings it up again after a kill of supervisord */
  up(): Promise<CliResult>;
  /** ends everything, checks that nothing is left and removes the folder */
  down(): Promise<CliResult>;
}

const MAIN = programPath('cli');

/** The real cluster in a temporary folder, on free ports, up and answering. Written settings as in `pagefleet.yaml`. */
export async function startCluster(
  settings: Record<string, unknown> = {},
  { provider }: { provider?: 'fake-runpod' } = {},
): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'pf-'));
  const stateDir = join(folder, 'state');
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'pagefleet.yaml');
  writeFileSync(file, JSON.stringify({ listen: { port }, workers: 2, ...settings, state_dir: stateDir }));
  const paths = clusterPaths(stateDir);
  const flags = ['--config', file];
  const cli = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    runCli([...args, ...flags], { cwd: folder, env });

  const up = ['up', '--detach', ...(provider === undefined ? [] : ['--provider', provider])];
  const started = await cli(up);
  if (started.code !== 0) throw new Error(`up ended with ${started.code}: ${started.stderr}`);
  const cluster = JSON.parse(readFileSync(paths.clusterFile, 'utf8')) as ClusterFile;
  const operatorToken = readFileSync(paths.operatorTokenFile, 'utf8').trim();
  const url = `http://127.0.0.1:${port}`;

  async function status(): Promise<FleetStatus> {
    const answer = await request(`http://127.0.0.1:${cluster.ports.controller}/v1/fleet/status`, {
      headers: { authorization: `Bearer ${operatorToken}` },
    });
    return (await answer.body.json()) as FleetStatus;
  }

  const until: TestCluster['until'] = async (what, fits) => {
    let last: unknown;
    for (let tries = 0; tries < 300; tries += 1) {
      last = await status().catch((error: unknown) => error);
      if (!(last instanceof Error) && fits(last as FleetStatus)) return last as FleetStatus;
      await sleep(200);
    }
    throw new Error(`never came: ${what}; last status: ${JSON.stringify(last)}`);
  };

  return {
    url,
    stateDir,
    cluster,
    operatorToken,
    cli,
    status,
    until,
    whole: (pods) =>
      until(`${pods} pods and 2 workers serve`, ({ summary, workers }) => {
        const ready = workers.filter(
          ({ worker, state, acked }) => worker >= 0 && state === 'listening' && acked,
        );
        return summary?.pods_ready === pods && ready.length === 2;
      }),
    logs: (program) =>
      existsSync(paths.logFile(program)) ? readFileSync(paths.logFile(program), 'utf8') : '',
    pidsOf: (program) => pidsOf(stateDir, program),
    kill(program, signal) {
      const pids = pidsOf(stateDir, program);
      for (const pid of pids) process.kill(pid, signal);
      return pids;
    },
    up: () => cli(up),
    async down() {
      const session = sessionOf(stateDir);
      const result = await cli(['down']);
      keepLogs(stateDir);
      const left = [...observeProcesses().values()].filter((found) => found.session === session);
      const pods = pidsOf(stateDir, 'pod');
      rmSync(folder, { recursive: true, force: true });
      if (left.length + pods.length > 0) {
        throw new Error(`left over after down: ${JSON.stringify(left)} pods ${pods.join()}`);
      }
      return result;
    },
  };
}

/** `KEEP_TEST_LOGS=DIR`: logs and account of every test cluster stay there to be looked at. */
function keepLogs(stateDir: string): void {
  const keep = process.env.KEEP_TEST_LOGS;
  if (keep === undefined) return;
  const { logsDir, accountDir } = clusterPaths(stateDir);
  const at = join(keep, basename(dirname(stateDir)));
  for (const folder of [logsDir, accountDir]) cpSync(folder, join(at, basename(folder)), { recursive: true });
}

/** Runs the command line as a user would and waits for its end. */
export function runCli(
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(realNodeBinary(), [MAIN, ...args], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        output[name] += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output }));
  });
}

interface SeenProcess {
  readonly pid: number;
  /** forked by a cluster primary; stays so when that is gone */
  readonly isMember: boolean;
  readonly session: number;
  readonly command: string;
}

function pidsOf(stateDir: string, program: ProgramName): number[] {
  if (program === 'pod') return podPids(stateDir);
  const all = observeProcesses();
  const session = sessionOf(stateDir);
  if (program === 'supervisord') return all.has(session) ? [session] : [];
  return [...all.values()]
    .filter((found) => found.session === session && nameOf(found) === program)
    .map(({ pid }) => pid);
}

function nameOf({ command, isMember }: SeenProcess): ProgramName | null {
  if (command.startsWith('nginx: worker')) return 'nginx-worker';
  if (command.startsWith('nginx: master')) return 'nginx';
  if (command.includes('nats-server')) return 'nats';
  if (command.includes('packages/controller/src/main.ts')) return 'controller';
  if (!command.includes('packages/worker/src/')) return null;
  if (command.includes('--backup')) return 'backup';
  return isMember ? 'worker' : 'workers';
}

function sessionOf(stateDir: string): number {
  return (JSON.parse(readFileSync(clusterPaths(stateDir).groupFile, 'utf8')) as { pid: number }).pid;
}

function podPids(stateDir: string): number[] {
  const { accountDir, rehearsalDir } = clusterPaths(stateDir);
  const folders = [accountDir, join(rehearsalDir, 'pods')].filter(existsSync);
  const alive = observeProcesses();
  return folders
    .flatMap((folder) => readdirSync(folder).map((id) => join(folder, id, POD_FILES.process)))
    .flatMap((file) => {
      if (!existsSync(file)) return [];
      const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
      return /packages\/gateway\/|class ModelServer/.test(alive.get(pid)?.command ?? '') ? [pid] : [];
    });
}

/** Zombies are not among them: they have no command any more. */
function observeProcesses(): Map<number, SeenProcess> {
  const found = new Map<number, SeenProcess>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const pid = Number(entry);
      const isMember = readFileSync(`/proc/${entry}/environ`, 'utf8').includes('\0NODE_UNIQUE_ID=');
      if (command !== '') found.set(pid, { pid, isMember, session: Number(fields[3]), command });
    } catch {
      // it ended while we looked
    }
  }
  return found;
}
