import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetStatus } from '@pagefleet/contract';
import { freePorts, programPath, realNodeBinary } from '@pagefleet/runtime';
import { request } from 'undici';

export interface WholeCluster {
  /** nginx */
  readonly url: string;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 120_000;

/** nginx, two workers, controller, NATS and `pods` local pods of width 1 with the real engine, as `pagefleet up` starts them. */
export async function startWholeCluster(pods: number): Promise<WholeCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'pagefleet-bench-'));
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'pagefleet.yaml');
  const settings = {
    listen: { port },
    workers: 2,
    state_dir: join(folder, 'state'),
    pools: [{ name: 'ocr', tesseract: 'cli', width: 1, min_pods: pods, max_pods: pods }],
  };
  await writeFile(file, JSON.stringify(settings));
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await runCli(['down', '--config', file]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await runCli(['up', '--detach', '--config', file]);
    await untilReady(url, pods);
  } catch (cause) {
    await stop().catch(() => undefined);
    throw cause;
  }
  return { url, stop };
}

async function runCli(args: readonly string[]): Promise<void> {
  const child = spawn(realNodeBinary(), [programPath('cli'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`pagefleet ${args[0]} ended with ${code}: ${said}`);
}

async function untilReady(url: string, pods: number): Promise<void> {
  const deadlineMs = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadlineMs) {
    const answer = await request(`${url}/v1/fleet/status`);
    const status = (await answer.body.json()) as Partial<FleetStatus>;
    if (status.summary?.pods_ready === pods) return;
    await sleep(200);
  }
  throw new Error(`${pods} pods did not serve within ${READY_WITHIN_MS} ms`);
}
