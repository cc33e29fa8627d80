import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import type { GatewayProcess } from '../integration/gateway/gateway-process.ts';
import type { ModelGateway } from '../integration/gateway/model-gateway.ts';

const PROBE_EVERY_MS = 20;
const LOOK_EVERY_MS = 60;
/** Of a process that has just started: it compiles what answers them. */
const WARM_UP_PROBES = 40;

export interface EngineWatch {
  /** ends the watch */
  stop(): Promise<EngineFindings>;
}

interface EngineFindings {
  /** most model servers that lived at the same time */
  readonly mostAtOnce: number;
  readonly looks: number;
  /** `/healthz` of the pod as its client met it, milliseconds */
  readonly health: Percentiles;
  /** without the time for which pod and client waited for a core: what the pod itself took; beside it an idle pod's */
  readonly own: Percentiles;
  readonly ownOfIdle: Percentiles;
}

interface Percentiles {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Times of `/healthz` of the pod and of an idle one, milliseconds, without waiting for a core; of one watch or of several. */
export interface OwnTimes {
  readonly pod: number[];
  readonly idle: number[];
}

/** Counts the living servers of a pod by looking at the machine's processes, and times its health against an idle pod's. */
export function watchEngine(pod: ModelGateway, idle: GatewayProcess, all: OwnTimes): EngineWatch {
  const stopping = new AbortController();
  const times: number[] = [];
  const own: OwnTimes = { pod: [], idle: [] };
  let mostAtOnce = 0;
  let looks = 0;

  async function countServers(): Promise<void> {
    while (!stopping.signal.aborted) {
      mostAtOnce = Math.max(mostAtOnce, (await pod.living()).length);
      looks += 1;
      await sleep(LOOK_EVERY_MS);
    }
  }

  async function timeHealth(): Promise<void> {
    const [ofPod, ofIdle] = await Promise.all([connect(pod.gateway), connect(idle)]);
    for (let n = 0; n < WARM_UP_PROBES; n += 1) await Promise.all([timeOnce(ofPod), timeOnce(ofIdle)]);
    while (!stopping.signal.aborted) {
      const [ofOne, ofOther] = [await timeOnce(ofPod), await timeOnce(ofIdle)];
      times.push(ofOne.ms);
      own.pod.push(ofOne.ownMs);
      own.idle.push(ofOther.ownMs);
      await sleep(PROBE_EVERY_MS);
    }
    await Promise.all([ofPod.client.destroy(), ofIdle.client.destroy()]);
  }

  const watching = Promise.all([countServers(), timeHealth()]);
  // A test that fails does not stop its watch.
  watching.catch(() => undefined);
  return {
    async stop() {
      stopping.abort();
      await watching;
      all.pod.push(...own.pod);
      all.idle.push(...own.idle);
      return {
        ...{ mostAtOnce, looks, health: percentilesOf(times) },
        ...{ own: percentilesOf(own.pod), ownOfIdle: percentilesOf(own.idle) },
      };
    },
  };
}

interface Probed {
  readonly client: Client;
  readonly pid: number;
}

async function connect(gateway: GatewayProcess): Promise<Probed> {
  const client = new Client(`http://127.0.0.1:${await gateway.port()}`);
  return { client, pid: gateway.child.pid ?? 0 };
}

async function timeOnce({ client, pid }: Probed): Promise<{ ms: number; ownMs: number }> {
  const waited = (): number => waitedForCoreMs(pid) + waitedForCoreMs(process.pid);
  const waitedBeforeMs = waited();
  const beganAtMs = performance.now();
  const { statusCode, body } = await client.request({ method: 'GET', path: '/healthz' });
  await body.dump();
  if (statusCode !== 200) throw new Error(`/healthz answered ${statusCode}`);
  const ms = performance.now() - beganAtMs;
  return { ms, ownMs: Math.max(0, ms - (waited() - waitedBeforeMs)) };
}

/** How long the first thread of a process, which is its loop, was ready and had no core; Linux (proc_schedstat). */
function waitedForCoreMs(pid: number): number {
  const [, waitedNs = '0'] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(waitedNs) / 1e6;
}

export function percentilesOf(times: readonly number[]): Percentiles {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(10 * (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)) / 10;
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
