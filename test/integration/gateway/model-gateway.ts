import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINE_PROFILES, type ProfileName } from '@pagefleet/contract';
import { programPath } from '@pagefleet/runtime';
import sharp from 'sharp';
import { type GatewayOptions, type GatewayProcess, startGateway } from './gateway-process.ts';

const SIM = join(programPath('sim'), '..', 'vllm', 'main.ts');

interface SimulatedRequest {
  readonly path: string;
  readonly end: string;
  readonly completionTokens: number;
  readonly body: { readonly model: string; readonly max_tokens?: number };
}

/** A real gateway whose engine is `sim/vllm`, with what that wrote down of itself. */
export interface ModelGateway {
  readonly gateway: GatewayProcess;
  /** how the simulated server behaves from now on; `startMs` and `startFails` count for the next start */
  script(script: object): void;
  starts(): { readonly pid: number; readonly port: number; readonly argv: readonly string[] }[];
  requests(): SimulatedRequest[];
  stats(): Promise<{ running: number; waiting: number; maxRunning: number; wastedTokens: number }>;
  /** pids of the simulated servers of this gateway that live now, stopped ones included; Linux only */
  living(): Promise<number[]>;
  state(): Promise<string>;
  end(): Promise<void>;
}

export interface ModelGatewayOptions {
  readonly engine?: ProfileName;
  readonly width?: number;
  readonly script?: object;
  readonly settings?: GatewayOptions['settings'];
  /** pod's folder of an earlier gateway */
  readonly dir?: string;
}

export function startModelGateway(options: ModelGatewayOptions = {}): ModelGateway {
  const { engine = 'surya', width = 4, script: first = {} } = options;
  const { servedName, model } = ENGINE_PROFILES[engine];
  const folder = mkdtempSync(join(tmpdir(), 'sim-vllm-'));
  const scriptFile = join(folder, 'script.json');
  const script = (next: object): void => {
    // Renamed, so that it is never read half written.
    writeFileSync(`${scriptFile}.new`, JSON.stringify(next));
    renameSync(`${scriptFile}.new`, scriptFile);
  };
  script(first);
  const strangers = new Set(readdirSync('/proc'));
  const serving = ['serve', model, '--served-model-name', servedName, '--max-num-seqs', String(width)];
  const gateway = startGateway({
    ...(options.dir === undefined ? {} : { dir: options.dir }),
    settings: {
      ...{ engine, width, maxPageBytes: 20_000_000 },
      serverCommand: [process.execPath, SIM, ...serving],
      serverEnv: [`SIM_VLLM_DIR=${folder}`, `SIM_VLLM_SCRIPT=${scriptFile}`],
      serverStartMs: 30_000,
      ...options.settings,
    },
  });
  const starts: ModelGateway['starts'] = () => readLines(join(folder, 'starts.ndjson'));
  return {
    gateway,
    script,
    starts,
    requests: () => readLines(join(folder, 'requests.ndjson')),
    async stats() {
      const port = starts().at(-1)?.port ?? 0;
      const answer = await fetch(`http://127.0.0.1:${port}/sim/stats`);
      return (await answer.json()) as Awaited<ReturnType<ModelGateway['stats']>>;
    },
    living: () => livingWith(`SIM_VLLM_DIR=${folder}`, strangers),
    state: async () => String((await gateway.ask('GET', '/healthz')).body.engine),
    async end() {
      await gateway.end();
      for (const pid of await livingWith(`SIM_VLLM_DIR=${folder}`, strangers)) process.kill(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A small picture; different for each `n`. */
export function smallPage(n: number): Promise<Buffer> {
  const mark = { left: 10 + (n % 16) * 20, top: 10 + Math.floor(n / 16) * 12, width: 12, height: 8 };
  const black = {
    create: { width: mark.width, height: mark.height, channels: 3 as const, background: 'black' },
  };
  return sharp({ create: { width: 360, height: 480, channels: 3, background: 'white' } })
    .composite([{ input: black, left: mark.left, top: mark.top }])
    .png()
    .toBuffer();
}

function readLines<T>(file: string): T[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/**
 * By a variable that only these have. Their guards, which are shells, have it too and do not count.
 *
 * @param strangers what lived before the gateway, of which none can be its server; those that have ended are taken out
 */
async function livingWith(variable: string, strangers: Set<string>): Promise<number[]> {
  const found: number[] = [];
  const names = new Set(await readdir('/proc'));
  for (const name of strangers) if (!names.has(name)) strangers.delete(name);
  for (const name of names) {
    if (strangers.has(name) || !/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (!command.includes(`${SIM}\0serve`) || command.startsWith('/bin/sh')) continue;
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(variable)) found.push(Number(name));
  }
  return found;
}
