import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PodHealth, PodSettings } from '@pagefleet/contract';
import { podSettings } from '@pagefleet/gateway/test-kit';
import { companionCommand } from '@pagefleet/providers';
import { encodePodSettings, makeProof, repoRoot } from '@pagefleet/runtime';
import { onTestFinished } from 'vitest';
import { COMPILE_CACHE } from '../../compile-cache.ts';
import { until } from '../gateway/gateway-process.ts';

export const TOKEN = podSettings().token;
export const MODEL = 'simulated';

/** The simulated vLLM, as a stock image would find it under `vllm serve`. */
export const SIMULATED_VLLM = [process.execPath, join(repoRoot(), 'packages/sim/src/vllm/main.ts'), 'serve'];

export interface CompanionOptions {
  readonly settings?: Partial<PodSettings>;
  /** of the simulated vLLM; see `packages/sim/src/vllm/script.ts` */
  readonly script?: object;
  readonly env?: Record<string, string>;
  /** what it prints goes into a pipe that nobody empties */
  readonly isLogStalled?: boolean;
  /** gets what ends it; the end of the test when left out */
  readonly onEnd?: (end: () => Promise<void>) => void;
}

interface SimStats {
  readonly running: number;
  readonly waiting: number;
  readonly maxRunning: number;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request that can be given up in the middle. */
interface OpenRequest {
  /** resolves with the head of the answer */
  readonly head: Promise<IncomingMessage>;
  /** the whole answer; rejects when it was cut */
  readonly answer: Promise<Answer>;
  hangUp(): void;
}

export interface CompanionProcess {
  readonly child: ChildProcess;
  readonly dir: string;
  readonly exited: Promise<number | null>;
  port(): Promise<number>;
  /** with proofs of both sides; `isProven`: the pod's was right */
  health(): Promise<{ health: PodHealth; isProven: boolean; ms: number }>;
  until(state: PodHealth['engine']): Promise<PodHealth>;
  open(id: string, body: object, headers?: Record<string, string>): OpenRequest;
  /** buffered unless the body says `stream` */
  chat(id: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  ask(method: string, path: string, headers?: Record<string, string>): Promise<Answer>;
  /** straight from the simulated server, past the companion */
  direct(method: string, path: string, body?: object): Promise<Answer>;
  stats(): Promise<SimStats>;
  /** every server that was ever started, oldest first */
  starts(): { readonly pid: number; readonly port: number; readonly argv: readonly string[] }[];
  /** of those, the ones that run now */
  alive(): number[];
  setScript(script: object): void;
  log(): string;
}

/** What a stock pod runs, with this machine's Python and our simulation of vLLM; ended with all of its own after the test. */
export function startCompanion(options: CompanionOptions = {}): CompanionProcess {
  const dir = mkdtempSync(join(tmpdir(), 'companion-'));
  const script = join(dir, 'script.json');
  writeFileSync(script, JSON.stringify(options.script ?? {}));
  const width = options.settings?.width ?? 4;
  const settings = podSettings({
    ...{ engine: 'surya', width, portFile: join(dir, 'port'), serverStartMs: 60_000 },
    serverCommand: [
      ...[...SIMULATED_VLLM, 'some/model', '--served-model-name', MODEL],
      ...['--max-num-seqs', String(width)],
    ],
    ...options.settings,
  });
  const { entrypoint, cmd } = companionCommand();
  const log = openSync(join(dir, 'log'), 'a');
  const child = spawn(entrypoint[0] ?? '', [...entrypoint.slice(1), ...cmd], {
    detached: true,
    stdio: ['ignore', options.isLogStalled ? 'pipe' : log, options.isLogStalled ? 'pipe' : log],
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
      ...{ SIM_VLLM_DIR: dir, SIM_VLLM_SCRIPT: script, ...COMPILE_CACHE },
      ...encodePodSettings(settings),
      ...options.env,
    },
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const file = (name: string): string => {
    try {
      return readFileSync(join(dir, name), 'utf8');
    } catch {
      return '';
    }
  };
  const lines = (name: string) =>
    file(name)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const port = async (): Promise<number> => {
    await until(() => file('port') !== '' || child.exitCode !== null, 'the companion writes its port');
    if (child.exitCode !== null) throw new Error(`the companion ended: ${file('log')}`);
    return Number(file('port'));
  };
  const owned = { authorization: `Bearer ${TOKEN}`, 'x-owner': 'ours' };

  const companion: CompanionProcess = {
    ...{ child, dir, exited, port },
    log: () => file('log'),
    starts: () => lines('starts.ndjson'),
    alive: () => companion.starts().flatMap(({ pid }) => (isAlive(pid) ? [pid] : [])),
    setScript: (next) => writeFileSync(script, JSON.stringify(next)),
    async health() {
      const nonce = randomBytes(8).toString('hex');
      const beganAtMs = performance.now();
      const answer = await companion.ask('GET', '/healthz', {
        ...{ authorization: '', 'x-pagefleet-nonce': nonce },
        'x-pagefleet-owner-proof': makeProof(TOKEN, 'owner', nonce),
      });
      const ms = performance.now() - beganAtMs;
      const isProven = answer.headers['x-pagefleet-pod-proof'] === makeProof(TOKEN, 'pod', nonce);
      return { health: JSON.parse(answer.body) as PodHealth, isProven, ms };
    },
    async until(state) {
      let last: PodHealth | null = null;
      await until(
        async () => {
          last = (await companion.health()).health;
          return last.engine === state;
        },
        `the model server is ${state}`,
        45_000,
      ).catch((error: Error) => {
        throw new Error(`${error.message}; it is ${last?.engine}; ${companion.log()}`);
      });
      return last as unknown as PodHealth;
    },
    open(id, body, headers = {}) {
      const given = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: id }], ...body });
      return open(port(), '/v1/chat/completions', {
        ...{ method: 'POST', body: given },
        headers: { ...owned, 'x-page-id': id, 'content-type': 'application/json', ...headers },
      });
    },
    chat: (id, body = {}, headers = {}) => companion.open(id, body, headers).answer,
    ask: (method, path, headers = {}) =>
      open(port(), path, { method, headers: { ...owned, ...headers } }).answer,
    direct(method, path, body) {
      const at = Promise.resolve(companion.starts().at(-1)?.port ?? 0);
      const headers = { 'content-type': 'application/json' };
      return open(at, path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }).answer;
    },
    stats: async () => JSON.parse((await companion.direct('GET', '/sim/stats')).body) as SimStats,
  };
  (options.onEnd ?? onTestFinished)(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
    for (const pid of companion.alive()) process.kill(pid, 'SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });
  return companion;
}

/** Each request on a connection of its own, so that a hang-up is one. */
function open(
  port: Promise<number>,
  path: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
): OpenRequest {
  const giveUp = new AbortController();
  const head = port.then(
    (at) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
        const sent = { ...{ host: '127.0.0.1', port: at, path, method }, headers: { ...headers, ...length } };
        const request = httpRequest({ ...sent, agent: false, signal: giveUp.signal }, resolve);
        request.once('error', reject);
        request.end(body);
      }),
  );
  const answer = head.then(async (response) => ({
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await text(response),
  }));
  for (const one of [head, answer]) one.catch(() => undefined);
  return { head, answer, hangUp: () => giveUp.abort() };
}

/** A zombie runs nothing. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

/** Looks all the time how many model servers run; `most()` ends the watch. */
export function watchServers(companion: CompanionProcess): { most(): Promise<number> } {
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, companion.alive().length);
      await sleep(10);
    }
  })();
  return {
    async most() {
      isOver = true;
      await watching;
      return most;
    },
  };
}

/** What half of 100 calls take at most, in the best of three rounds: others use the cores of this machine too. */
export async function usualMs(call: () => Promise<number>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const times: number[] = [];
    for (let n = 0; n < 100; n += 1) {
      times.push(await call());
      await sleep(2);
    }
    rounds.push(times.toSorted((a, b) => a - b)[49] ?? Number.POSITIVE_INFINITY);
  }
  return Math.min(...rounds);
}
