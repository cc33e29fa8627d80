import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProfileName } from '@pagefleet/contract';
import { programPath, realNodeBinary } from '@pagefleet/runtime';
import type { RequestRecord, Script, StartRecord } from '@pagefleet/sim/vllm';

const SIMULATED_VLLM = join(programPath('sim'), '..', 'vllm', 'main.ts');

interface SimStats {
  /** of the server */
  readonly url: string;
  readonly running: number;
  readonly waiting: number;
  readonly maxRunning: number;
  readonly generatedTokens: number;
  readonly wastedTokens: number;
  readonly requests: number;
}

/** A pool whose pods start our simulation of vLLM, and what the simulation says of itself. */
export interface ModelPool {
  readonly name: string;
  /** an entry of `pools` in `pagefleet.yaml` */
  readonly settings: Record<string, unknown>;
  /** how its servers behave from now on; they look at their next request, and when they are asked for their health */
  script(next: Script): void;
  /** The same, at once: what was held or slow goes on by it. */
  goOn(next: Script): Promise<void>;
  /** every server that was started, oldest first */
  starts(): StartRecord[];
  /** requests that are over, of all its servers */
  requests(): RequestRecord[];
  /** of each server that answers now, oldest first */
  stats(): Promise<SimStats[]>;
  /** of the newest server, past everything of ours */
  direct(): string;
  remove(): void;
}

export interface ModelPoolOptions {
  readonly engine: ProfileName;
  readonly width: number;
  readonly script?: Script;
  /** of the pool, beside what makes it simulated */
  readonly settings?: Record<string, unknown>;
  /** of `vllm` */
  readonly vllm?: Record<string, unknown>;
}

/** The folder in which its servers write lies outside the cluster's, so that it outlives them. */
export function modelPool(name: string, options: ModelPoolOptions): ModelPool {
  const { engine, width, script: first = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), `sim-vllm-${name}-`));
  const file = join(folder, 'script.json');
  const script = (next: Script): void => {
    // Renamed, so that it is never read half written.
    writeFileSync(`${file}.new`, JSON.stringify(next));
    renameSync(`${file}.new`, file);
  };
  script(first);
  const stats = async (): Promise<SimStats[]> => {
    const all = await Promise.all(starts().map(({ port }) => statsAt(port)));
    return all.filter((one) => one !== null);
  };
  const starts = () => readLines<StartRecord>(join(folder, 'starts.ndjson'));
  const told = [`SIM_VLLM_DIR=${folder}`, `SIM_VLLM_SCRIPT=${file}`];
  const command = ['/usr/bin/env', ...told, realNodeBinary(), SIMULATED_VLLM, 'serve'];
  return {
    name,
    settings: {
      ...{ name, engine, width, min_pods: 1, max_pods: 1, idle_timeout: '1h', ...options.settings },
      vllm: { command, ...options.vllm },
    },
    ...{ script, starts, stats },
    async goOn(next) {
      script(next);
      // They look at their next request.
      await Promise.all((await stats()).map(({ url }) => askOnce(url, name)));
    },
    requests: () => readLines(join(folder, 'requests.ndjson')),
    direct: () => `http://127.0.0.1:${starts().at(-1)?.port}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function askOnce(url: string, model: string): Promise<void> {
  const answer = await fetch(`${url}/v1/completions`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ model, prompt: 'go on', max_tokens: 1 }),
  });
  await answer.arrayBuffer();
}

async function statsAt(port: number): Promise<SimStats | null> {
  const url = `http://127.0.0.1:${port}`;
  try {
    const answer = await fetch(`${url}/sim/stats`);
    return { ...((await answer.json()) as Omit<SimStats, 'url'>), url };
  } catch {
    return null;
  }
}

function readLines<T>(file: string): T[] {
  return readFileSync(file, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
