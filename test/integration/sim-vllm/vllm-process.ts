import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { RequestRecord, Script } from '@pagefleet/sim/vllm';

const MAIN = join(import.meta.dirname, '../../../packages/sim/src/vllm/main.ts');

/** A simulated vLLM as a process of its own. */
export interface VllmProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** what it wrote to stderr so far */
  log(): string;
  setScript(script: Script): void;
  requests(): RequestRecord[];
  starts(): { pid: number; port: number; argv: string[] }[];
  stats(): Promise<Record<string, number>>;
  post(path: string, body: object, signal?: AbortSignal): Promise<Response>;
  close(): Promise<void>;
}

export interface VllmOptions {
  readonly script?: Script;
  readonly args?: readonly string[];
  readonly model?: string;
  /** false: it is not waited for */
  readonly ready?: boolean;
}

export async function startVllm(options: VllmOptions = {}): Promise<VllmProcess> {
  const { script = {}, args = [], model = 'test/model', ready = true } = options;
  const folder = mkdtempSync(join(tmpdir(), 'sim-vllm-'));
  const scriptPath = join(folder, 'script.json');
  const setScript = (next: Script): void => {
    writeFileSync(`${scriptPath}.new`, JSON.stringify(next));
    renameSync(`${scriptPath}.new`, scriptPath);
  };
  setScript(script);
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN, 'serve', model, '--port', String(port), ...args], {
    env: { SIM_VLLM_DIR: folder, SIM_VLLM_SCRIPT: scriptPath },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString('utf8');
  });
  const url = `http://127.0.0.1:${port}`;
  const lines = <T>(file: string): T[] =>
    readFileSync(join(folder, file), { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  const started: VllmProcess = {
    ...{ url, child, setScript },
    log: () => log,
    requests: () => lines('requests.ndjson'),
    starts: () => lines('starts.ndjson'),
    stats: async () => (await (await fetch(`${url}/sim/stats`)).json()) as Record<string, number>,
    post: (path, body, signal) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
  while (
    ready &&
    !(await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`the simulated vLLM ended: ${log}`);
    await wait(10);
  }
  return started;
}

/** The events of a stream, as they were written. */
export function eventsOf(body: string): string[] {
  return body
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
}

export function ask(text: string, more: object = {}): object {
  return { model: 'test/model', messages: [{ role: 'user', content: text }], ...more };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
