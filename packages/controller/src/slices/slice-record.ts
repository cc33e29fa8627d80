import {
  type Config,
  modelNamesOf,
  type Slice,
  type SlicePod,
  type SlicePool,
  type WorkerLimits,
} from '@pagefleet/contract';
import { isExisting, type Pod } from '@pagefleet/core';

/** A pod whose address and token are known, as a slice names it. */
export type SlicedPod = Extract<Pod, { state: 'serving' | 'quarantined' | 'draining' }> & {
  readonly url: string;
};

export function isSliced(pod: Pod): pod is SlicedPod {
  const isUp = pod.state === 'serving' || pod.state === 'quarantined' || pod.state === 'draining';
  return isExisting(pod) && isUp && pod.url !== null;
}

interface PodsOfWorker {
  readonly bootId: string;
  readonly pods: readonly SlicedPod[];
  readonly widths: ReadonlyMap<string, number>;
  /** pods that the worker still speaks of, also without width: it must hear that they drain, or serve again */
  readonly mentioned: ReadonlySet<string>;
  readonly tokenOf: (pod: Pod) => string | null;
}

export function slicePods(input: PodsOfWorker): SlicePod[] {
  const { bootId, widths, mentioned, tokenOf } = input;
  return input.pods.flatMap((pod): SlicePod[] => {
    const width = widths.get(pod.id) ?? 0;
    if (width === 0 && !mentioned.has(pod.id)) return [];
    const token = tokenOf(pod);
    if (token === null) return [];
    const { id, pool, url } = pod;
    const mode = pod.state === 'serving' ? 'serve' : 'drain';
    // Only a pod that serves has had its suspicions answered; while it is set aside the worker keeps out by itself too.
    const answeredSuspect = pod.state === 'serving' ? (pod.answered[bootId] ?? 0) : 0;
    return [{ id, pool, url, token, width, mode, answeredSuspect }];
  });
}

/** Each worker's share of every ceiling, rounded up: together at least the total, and less than one share more. */
export function workerLimits(config: Config): WorkerLimits {
  const { limits } = config;
  const share = (total: number) => Math.ceil(total / Math.max(1, config.workers));
  return {
    maxInFlight: share(limits.maxInFlight),
    maxQueued: share(limits.maxQueued),
    maxMemoryBytes: share(limits.memoryBytes),
    maxSpoolBytes: share(limits.spoolBytes),
  };
}

interface PoolFacts {
  readonly suspendedUntilMs: (pool: string) => number;
  readonly fleetOnly: (pool: string) => readonly string[];
}

export function slicePools(
  config: Config,
  pods: readonly SlicedPod[],
  { suspendedUntilMs, fleetOnly }: PoolFacts,
): SlicePool[] {
  return config.pools.map((configured) => {
    const { name } = configured;
    const keys = fleetOnly(name);
    const servingPods = pods.filter((pod) => pod.pool === name && pod.state === 'serving').length;
    const facts = { suspendedUntilMs: Math.round(suspendedUntilMs(name)), servingPods };
    const pool = { name, models: modelNamesOf(configured), ...facts };
    return keys.length === 0 ? pool : { ...pool, fleetOnly: [...keys] };
  });
}

/** What makes a slice worth writing although no width has changed. */
export function sliceFacts(slice: Omit<Slice, 'v' | 'bootId' | 'epoch' | 'rev'>): string {
  const pods = slice.pods.map(({ width: _, ...facts }) => facts);
  return JSON.stringify([pods, slice.pools, slice.limits, slice.gone, slice.closing]);
}
