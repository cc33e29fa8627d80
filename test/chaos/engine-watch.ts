import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import type { GatewayProcess } from '../integration/gateway/gateway-process.ts';
import type { ModelGateway } from '../integration/gateway/model-gateway.ts';

const PROBE_EVERY_MS = 20;
const LOOK_EVERY_MS = 60;
/** Of a process that has just started: it compiles what answers them. */
const WARM_UP_PROBES = 40;
/** An idle pod answers within this unless others have the cores. */
const QUIET_MS = 3;

export interface EngineWatch {
  /** ends the watch */
  stop(): Promise<EngineFindings>;
}

interface EngineFindings {
  /** most model servers that lived at the same time */
  readonly mostAtOnce: number;
  readonly looks: number;
  /** `/healthz` of the pod, milliseconds: all probes */
  readonly health: Percentiles;
  /** those of the pod, and of an idle pod, that were asked while the machine was quiet: right before and after one, an idle pod answered at once */
  readonly healthWhenQuiet: Percentiles;
  readonly idleWhenQuiet: Percentiles;
}

interface Percentiles {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Times of `/healthz` of the pod and of an idle one, milliseconds, while the machine was quiet; of one watch or of several. */
export interface QuietTimes {
  readonly pod: number[];
  readonly idle: number[];
}

/** Counts the living servers of a pod by looking at the machine's processes, and times its health against an idle pod's. */
export function watchEngine(pod: ModelGateway, idle: GatewayProcess, all: QuietTimes): EngineWatch {
  const stopping = new AbortController();
  const times: number[] = [];
  const quiet: QuietTimes = { pod: [], idle: [] };
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
      const before = await timeOnce(ofIdle);
      const health = await timeOnce(ofPod);
      const between = await timeOnce(ofIdle);
      const control = await timeOnce(ofIdle);
      const after = await timeOnce(ofIdle);
      times.push(health);
      if (Math.max(before, between) < QUIET_MS) quiet.pod.push(health);
      if (Math.max(between, after) < QUIET_MS) quiet.idle.push(control);
      await sleep(PROBE_EVERY_MS);
    }
    await Promise.all([ofPod.destroy(), ofIdle.destroy()]);
  }

  const watching = [countServers(), timeHealth()];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(watching);
      all.pod.push(...quiet.pod);
      all.idle.push(...quiet.idle);
      return {
        ...{ mostAtOnce, looks, health: percentilesOf(times) },
        healthWhenQuiet: percentilesOf(quiet.pod),
        idleWhenQuiet: percentilesOf(quiet.idle),
      };
    },
  };
}

async function connect(gateway: GatewayProcess): Promise<Client> {
  return new Client(`http://127.0.0.1:${await gateway.port()}`);
}

async function timeOnce(client: Client): Promise<number> {
  const beganAtMs = performance.now();
  const { statusCode, body } = await client.request({ method: 'GET', path: '/healthz' });
  await body.dump();
  if (statusCode !== 200) throw new Error(`/healthz answered ${statusCode}`);
  return performance.now() - beganAtMs;
}

export function percentilesOf(times: readonly number[]): Percentiles {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(10 * (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)) / 10;
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
