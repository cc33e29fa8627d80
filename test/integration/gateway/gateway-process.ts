import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { podSettings } from '@pagefleet/gateway/test-kit';
import { encodePodSettings, podRoute, programPath } from '@pagefleet/runtime';
import { Pool } from 'undici';
import { COMPILE_CACHE } from '../../compile-cache.ts';

export const TOKEN = podSettings().token;

export interface GatewayProcess {
  readonly child: ChildProcess;
  readonly dir: string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** resolves once the port is written */
  port(): Promise<number>;
  read(
    id: string,
    bytes: Buffer,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: string }>;
  ask(method: 'GET' | 'POST' | 'DELETE', path: string, headers?: Record<string, string>): Promise<Answer>;
  log(): Record<string, unknown>[];
  events(name: string): Record<string, unknown>[];
  end(): Promise<void>;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
  ms: number;
}

export interface GatewayOptions {
  readonly settings?: Partial<Parameters<typeof encodePodSettings>[0]>;
  /** where standard output goes; the pod's own log if left out */
  readonly output?: string;
  readonly env?: Record<string, string>;
  /** files that are in the pod's folder before it starts */
  readonly dir?: string;
}

/** A real gateway, in a folder of its own and a process group of its own, as the local provider starts it. */
export function startGateway(options: GatewayOptions = {}): GatewayProcess {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'gateway-'));
  const logFile = join(dir, 'log');
  const output = openSync(options.output ?? logFile, 'a');
  const settings = {
    ...podSettings({ width: 2, sleepMs: 50, portFile: join(dir, 'port') }),
    ...options.settings,
  };
  const child = spawn(process.execPath, [programPath('gateway')], {
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, ...encodePodSettings(settings), ...options.env },
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let pool: Pool | null = null;

  async function port(): Promise<number> {
    for (let n = 0; n < 4_000; n += 1) {
      const text = settings.portFile === '' ? '' : await readFile(settings.portFile, 'utf8').catch(() => '');
      if (text !== '') return Number(text);
      const [serving] = settings.portFile === '' ? log().filter(isServing) : [];
      if (serving) return Number(serving.port);
      if (child.exitCode !== null) throw new Error(`the gateway ended: ${readFileSync(logFile, 'utf8')}`);
      await sleep(10);
    }
    throw new Error('the gateway wrote no port');
  }

  async function send(method: 'GET' | 'POST' | 'DELETE', path: string, more: object) {
    const scheme = settings.transport === 'tls-psk' ? 'psk' : 'http';
    const { origin, connect } = podRoute(`${scheme}://${settings.host}:${await port()}`, settings.token);
    pool ??= new Pool(origin, { connect, connections: 100 });
    const { statusCode, body } = await pool.request({ method, path, ...more });
    return { status: statusCode, body: await body.text() };
  }

  function log(): Record<string, unknown>[] {
    const lines = readFileSync(logFile, 'utf8').split('\n');
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  }

  return {
    child,
    dir,
    exited,
    port,
    log,
    events: (name) => log().filter((line) => line.event === name),
    read: (id, bytes, headers = {}) =>
      send('POST', '/v1/page', {
        headers: { authorization: `Bearer ${TOKEN}`, 'x-page-id': id, 'x-owner': 'ours', ...headers },
        body: bytes,
      }),
    async ask(method, path, headers = {}) {
      const beganAtMs = performance.now();
      const { status, body } = await send(method, path, { headers });
      return { status, body: JSON.parse(body), ms: performance.now() - beganAtMs };
    },
    async end() {
      await pool?.destroy();
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
      await exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function isServing({ event }: Record<string, unknown>): boolean {
  return event === 'pod_serving';
}

/** A page for the sleep engine, which holds it for so long. */
export function sleepPage(ms: number): Buffer {
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(`#pagefleet-sleep:${ms}#`)]);
}

/** Pids of the processes of a group that are not zombies; Linux only. */
export async function observeGroup(group: number): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) !== group || fields[0] === 'Z') continue;
    found.push({ pid: Number(name), command: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')) });
  }
  return found;
}

export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 30_000,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}
