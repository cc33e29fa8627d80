import type { ListedPod } from './listing.ts';
import { EMPTY_MEMORY, type Memory, NEW_POOL_MEMORY, type PoolMemory } from './memory.ts';
import type { MergedDemand, MergedPod, MergedReports } from './merge-reports.ts';
import type { Plan } from './plan.ts';
import type {
  BootingPod,
  Pod,
  RefusingPod,
  ServingPod,
  TerminatingPod,
  UnreachablePod,
} from './pod-state.ts';
import type { PoolSettings } from './pool-settings.ts';
import type { WatchSettings } from './watch.ts';
import type { World } from './world.ts';

/** Worlds for tests: small, complete, and quiet unless a test says otherwise. */
export const T0 = 1_000_000_000;
export const HASH = 'hash-1';

/** The configuration's defaults. */
export const WATCH: WatchSettings = {
  probeIntervalMs: 45_000,
  probeTimeoutMs: 3_000,
  trialDelayMs: 5_000,
  adoptionIntervalMs: 60_000,
};

export function rents(plan: Plan): number {
  return plan.actions.filter((action) => action.kind === 'rent').length;
}

export function settings(change: Partial<PoolSettings> = {}): PoolSettings {
  return {
    ...{ name: 'ocr', models: ['ocr'], configHash: HASH, width: 8, minPods: 0, maxPods: 10 },
    ...{ bootDeadlineMs: 1_800_000, bootEstimateMs: 700_000, rampPods: 4, graceMs: 600_000 },
    ...{
      free: true,
      policy: null,
      offer: null,
      maxAgeMs: null,
      priceUsdPerHour: 0,
      maxPriceUsdPerHour: null,
    },
    ...change,
  };
}

/** A proven pool, so that the first pod of its kind is no matter. */
export function memory(change: Partial<PoolMemory> = {}, pool = 'ocr'): Memory {
  return {
    ...EMPTY_MEMORY,
    sweptAtMs: T0,
    pools: { [pool]: { ...NEW_POOL_MEMORY, provenHashes: [HASH], ...change } },
  };
}

export function world(change: Partial<World> = {}): World {
  const nowMs = change.nowMs ?? T0;
  const pods = [...(change.registry ?? new Map<string, Pod>()).values()];
  const listed = pods.flatMap((pod) =>
    pod.id === null || pod.state === 'terminated' ? [] : [listedOf(pod)],
  );
  return {
    nowMs,
    clusterId: 'c1',
    registry: new Map(),
    pools: [settings()],
    watch: WATCH,
    listing: { newest: listing(nowMs - 1_000, listed), previous: listing(nowMs - 60_000, listed) },
    probes: new Map(),
    providerAnsweredMs: nowMs - 1_000,
    reports: reports(),
    offers: null,
    leases: [],
    schedule: [],
    limits: { usdPerHour: null, usdPerDay: null },
    spentTodayUsd: 0,
    memory: memory(),
    stopping: false,
    ...change,
  };
}

export function listing(startedAtMs: number, pods: readonly ListedPod[]) {
  return { startedAtMs, endedAtMs: startedAtMs + 100, pods };
}

export function listed(
  change: Partial<ListedPod> & { key?: string; pool?: string; cluster?: string } = {},
): ListedPod {
  const { key = 'k1', pool = 'ocr', cluster = 'c1', ...entry } = change;
  const mark = { clusterId: cluster, podKey: key, pool, width: 8, configHash: HASH, spot: false };
  return {
    ...{
      id: `id-${key}`,
      name: `c1-${pool}-${key}`,
      status: 'running',
      url: `http://${key}:1`,
      priceUsdPerHour: 0,
    },
    ...{ createdAtMs: T0 - 3_600_000, card: null, cloud: null, mark },
    ...entry,
  };
}

export function listedOf(pod: Pod): ListedPod {
  const { key, pool, name, url, priceUsdPerHour, createdAtMs } = pod;
  return listed({ key, pool, id: pod.id ?? `id-${key}`, name, url, priceUsdPerHour, createdAtMs });
}

function base(key: string) {
  return {
    ...{ key, id: `id-${key}`, name: `c1-ocr-${key}`, pool: 'ocr', width: 8, url: `http://${key}:1` },
    ...{ priceUsdPerHour: 0, createdAtMs: T0 - 3_600_000, bootDeadlineMs: 1_800_000, configHash: HASH },
    ...{ offer: null, shownAtMs: T0 - 3_500_000, answered: {}, revision: 1 },
  };
}

export function serving(key: string, change: Partial<ServingPod> = {}): ServingPod {
  return {
    ...base(key),
    state: 'serving',
    sinceMs: T0 - 3_000_000,
    nextProbeMs: T0 + 20_000,
    asked: null,
    ...change,
  };
}

export function booting(key: string, change: Partial<BootingPod> = {}): BootingPod {
  const times = {
    sinceMs: T0 - 10_000,
    createdAtMs: T0 - 10_000,
    deadlineMs: T0 + 600_000,
    nextProbeMs: T0 + 5_000,
  };
  return { ...base(key), ...times, state: 'booting', origin: 'rented', asked: null, ...change };
}

export function unreachable(key: string, change: Partial<UnreachablePod> = {}): UnreachablePod {
  const facts = {
    reason: 'unreachable',
    strikes: 0,
    owesTrialMs: null,
    detail: 'refused the connection',
    asked: null,
  } as const;
  return {
    ...base(key),
    state: 'quarantined',
    sinceMs: T0 - 10_000,
    nextProbeMs: T0 + 35_000,
    ...facts,
    ...change,
  };
}

export function refusing(key: string, change: Partial<RefusingPod> = {}): RefusingPod {
  const facts = { reason: 'refusing', backoffMs: 5_000, detail: 'refused a page', asked: null } as const;
  return {
    ...base(key),
    state: 'quarantined',
    sinceMs: T0 - 1_000,
    nextProbeMs: T0 + 4_000,
    ...facts,
    ...change,
  };
}

export function terminating(key: string, change: Partial<TerminatingPod> = {}): TerminatingPod {
  return {
    ...base(key),
    state: 'terminating',
    sinceMs: T0 - 5_000,
    why: 'idle',
    askedAtMs: T0 - 5_000,
    asks: 1,
    ...change,
  };
}

export function registry(...pods: readonly Pod[]): Map<string, Pod> {
  return new Map(pods.map((pod) => [pod.key, pod]));
}

export function reports(
  pods: Record<string, Partial<MergedPod>> = {},
  demand: Partial<MergedDemand> = {},
  change: Partial<MergedReports> = {},
): MergedReports {
  const quiet = {
    inflight: 0,
    heldWidth: 0,
    used: 0,
    good: 0,
    lastGoodMs: 0,
    oldestSlotMs: 0,
    pagesPerSecond: 0,
    suspects: [],
  };
  return {
    pods: new Map(Object.entries(pods).map(([key, pod]) => [`id-${key}`, { ...quiet, ...pod }])),
    pools: new Map([
      ['ocr', { inflight: 0, waiting: 0, unsplit: 0, refused: 0, oldestWaitMs: 0, ...demand }],
    ]),
    fresh: ['w1'],
    stale: [],
    complete: true,
    ...change,
  };
}
