import type { Report } from '@pagefleet/contract';
import {
  type Action,
  applyPlan,
  type CompleteListing,
  EMPTY_MEMORY,
  type ListedPod,
  mergeReports,
  NO_LISTING,
  type Plan,
  type Pod,
  type PoolSettings,
  type ProbeOutcome,
  type ProbeResult,
  recordListing,
  reloadRegistry,
  transition,
  type WatchSettings,
  type World,
} from '@pagefleet/core';

export const CLUSTER = 'c1';
export const POOL: PoolSettings = {
  ...{ name: 'ocr', models: ['ocr'], configHash: 'h1', width: 4, minPods: 1, maxPods: 6 },
  ...{ bootDeadlineMs: 120_000, bootEstimateMs: 40_000, idleTimeoutMs: 90_000, rampPods: 3, graceMs: 60_000 },
  ...{ free: false, policy: null, offer: null, maxAgeMs: null, priceUsdPerHour: 0.5, maxPriceUsdPerHour: 1 },
};

const WATCH: WatchSettings = {
  ...{ probeIntervalMs: 45_000, probeTimeoutMs: 3_000, trialDelayMs: 5_000, adoptionIntervalMs: 60_000 },
};

/** What the provider really runs. */
export interface CloudPod {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly readyAtMs: number;
  /** refuses connections until then */
  refusesUntilMs: number;
  /** refuses pages until then */
  refusesPagesUntilMs: number;
  isDead: boolean;
  /** hidden from exactly one complete listing, as an account that is not quite consistent would */
  hideOnce: boolean;
  lastGoodMs: number;
  used: number;
}

interface Pending {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * The outside of `decide`, without any I/O: a cloud, a network, one worker and a controller that may die at any step. All
 * chance comes from `random`, so a seed is a story.
 */
export class PoolModel {
  nowMs = 1_000_000;
  readonly cloud = new Map<string, CloudPod>();
  /** complete listings of this controller's life, oldest first */
  listings: CompleteListing[] = [];
  registry: World['registry'] = new Map();
  memory = EMPTY_MEMORY;
  listing = NO_LISTING;
  probes = new Map<string, ProbeResult>();
  providerAnsweredMs: number | null = null;
  demand = 0;
  isRouteUp = true;
  isProviderUp = true;
  isBusUp = true;
  isWorkerSilent = false;
  leaseCap: number | null = null;
  maxPods = POOL.maxPods;
  isStopping = false;
  readonly #random: () => number;
  #pending: Pending[] = [];
  #minted = 0;
  #suspicions = new Map<string, { n: number; kind: 'unreachable' | 'refusing'; atMs: number }>();
  #suspicionN = 0;
  #seq = 0;
  #reports: { report: Report; receivedAtMs: number } | null = null;

  constructor(random: () => number) {
    this.#random = random;
  }

  chance(p: number): boolean {
    return this.#random() < p;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  world(): World {
    return {
      nowMs: this.nowMs,
      clusterId: CLUSTER,
      registry: this.registry,
      pools: [{ ...POOL, maxPods: this.maxPods }],
      watch: WATCH,
      listing: this.listing,
      probes: this.probes,
      providerAnsweredMs: this.providerAnsweredMs,
      reports: this.isBusUp
        ? mergeReports(this.#reports === null ? [] : [this.#reports], {
            nowMs: this.nowMs,
            epoch: 1,
            alive: ['w1'],
          })
        : null,
      leases:
        this.leaseCap === null
          ? []
          : [{ id: 'l', pool: POOL.name, pods: 3, maxPods: this.leaseCap, expiresAtMs: this.nowMs + 60_000 }],
      offers: null,
      schedule: [],
      limits: { usdPerHour: 10, usdPerDay: 100 },
      spentTodayUsd: 1,
      memory: this.memory,
      stopping: this.isStopping,
    };
  }

  /** Time passes: what was under way comes in, pages are read, the worker reports. */
  advance(ms: number): void {
    this.nowMs += ms;
    const due = this.#pending.filter((p) => p.atMs <= this.nowMs);
    this.#pending = this.#pending.filter((p) => p.atMs > this.nowMs);
    for (const pending of due) pending.run();
    this.#readPages();
    if (!this.isWorkerSilent) this.#report();
  }

  apply(world: World, plan: Plan): void {
    const next = applyPlan(world, plan, (pool) => {
      this.#minted += 1;
      return { key: `k${this.#minted}`, name: `${CLUSTER}-${pool}-${this.#minted}` };
    });
    const opened = [...next.registry.values()].filter(
      (pod) => !world.registry.has(pod.key) && pod.state === 'renting',
    );
    this.registry = next.registry;
    this.memory = next.memory;
    for (const pod of opened) this.#create(pod);
    for (const action of plan.actions) this.#act(action);
    if (plan.listingDueMs <= this.nowMs) this.takeListing();
  }

  /** kill -9 of the controller: only the journal, which is the registry, is left. */
  restart(): void {
    this.registry = reloadRegistry(this.registry.values(), this.nowMs);
    this.memory = EMPTY_MEMORY;
    this.listing = NO_LISTING;
    this.listings = [];
    this.probes = new Map();
    this.providerAnsweredMs = null;
    this.#pending = [];
  }

  /** A pod of ours that the registry lost. */
  forgetOne(): void {
    const pod = this.pick([...this.registry.values()].filter((p) => p.state === 'serving'));
    if (pod === undefined) return;
    const registry = new Map(this.registry);
    registry.delete(pod.key);
    this.registry = registry;
  }

  isReachable(pod: CloudPod): boolean {
    return this.isRouteUp && !pod.isDead && this.nowMs >= pod.readyAtMs && this.nowMs >= pod.refusesUntilMs;
  }

  takeListing(): void {
    if (!this.isProviderUp) return;
    this.providerAnsweredMs = this.nowMs;
    const pods = [...this.cloud.values()].filter((pod) => !pod.hideOnce).map(listedOf);
    for (const pod of this.cloud.values()) pod.hideOnce = false;
    const foreign: ListedPod = { ...FOREIGN, createdAtMs: this.nowMs - 1_000_000 };
    const listing = { startedAtMs: this.nowMs, endedAtMs: this.nowMs, pods: [...pods, foreign] };
    this.listings.push(listing);
    this.listing = recordListing(this.listing, listing);
  }

  #create(pod: Pod): void {
    const fate = this.#random();
    if (fate < 0.1) {
      this.#later(2_000, () => this.#tell(pod.key, { kind: 'create-refused', fault: 'account' }));
      return;
    }
    if (fate < 0.18) {
      this.#later(9_000, () => this.#tell(pod.key, { kind: 'answer-lost' }));
      return;
    }
    const id = `id-${pod.key}`;
    const boots = this.chance(0.85) ? this.nowMs + 5_000 + this.#random() * 60_000 : Number.POSITIVE_INFINITY;
    const facts = {
      refusesUntilMs: 0,
      refusesPagesUntilMs: 0,
      isDead: false,
      hideOnce: false,
      lastGoodMs: 0,
      used: 0,
    };
    this.cloud.set(id, {
      id,
      key: pod.key,
      name: pod.name,
      createdAtMs: this.nowMs,
      readyAtMs: boots,
      ...facts,
    });
    if (fate < 0.28) {
      this.#later(9_000, () => this.#tell(pod.key, { kind: 'answer-lost' }));
      return;
    }
    this.#later(this.#random() * 8_000, () =>
      this.#tell(pod.key, { kind: 'created', id, url: null, priceUsdPerHour: 0.5 }),
    );
  }

  #tell(key: string, event: Parameters<typeof transition>[1]): void {
    const pod = this.registry.get(key);
    if (pod === undefined) return;
    const result = transition(pod, event, this.nowMs);
    if (result.legal) this.registry = new Map(this.registry).set(key, result.pod);
  }

  #act(action: Action): void {
    if (action.kind === 'probe' || action.kind === 'trial') this.#ask(action);
    if (action.kind === 'resolve') this.takeListing();
    if (action.kind !== 'terminate' || !this.isProviderUp || this.chance(0.15)) return;
    this.#later(this.#random() * 5_000, () => this.cloud.delete(action.id));
  }

  #ask(action: Extract<Action, { kind: 'probe' | 'trial' }>): void {
    if (this.chance(0.03)) return;
    const purpose = action.kind === 'trial' ? 'trial' : action.purpose;
    const id = this.registry.get(action.podKey)?.id;
    this.#later(50 + this.#random() * 3_000, () => {
      const outcome = this.#outcome(this.cloud.get(id ?? ''), purpose === 'trial');
      this.probes.set(action.podKey, {
        purpose,
        askedAtMs: action.askedAtMs,
        endedAtMs: this.nowMs,
        outcome,
      });
    });
  }

  #outcome(pod: CloudPod | undefined, isTrial: boolean): ProbeOutcome {
    if (this.chance(0.02)) return 'ours';
    if (pod === undefined || !this.isReachable(pod)) return this.chance(0.5) ? 'refused' : 'timeout';
    if (!isTrial) return this.chance(0.9) ? 'ready' : 'busy';
    if (this.nowMs < pod.refusesPagesUntilMs) return 'page-refused';
    return 'page-read';
  }

  #readPages(): void {
    let left = this.demand;
    for (const pod of this.registry.values()) {
      const real = pod.id === null ? undefined : this.cloud.get(pod.id);
      if (pod.state !== 'serving' || left === 0) continue;
      left = Math.max(0, left - pod.width);
      if (real !== undefined && this.isReachable(real) && this.nowMs >= real.refusesPagesUntilMs) {
        real.lastGoodMs = this.nowMs - 1;
        real.used += 1;
      } else {
        this.#suspicionN += 1;
        const kind = real !== undefined && this.isReachable(real) ? 'refusing' : 'unreachable';
        this.#suspicions.set(pod.id, { n: this.#suspicionN, kind, atMs: this.nowMs });
      }
    }
  }

  #report(): void {
    const pods: Report['pods'] = {};
    const held: Report['held'] = {};
    let left = this.demand;
    for (const pod of this.registry.values()) {
      if (pod.id === null) continue;
      const real = this.cloud.get(pod.id);
      const inflight = pod.state === 'serving' ? Math.min(left, pod.width) : 0;
      left -= inflight;
      const open = this.#suspicions.get(pod.id);
      if (pod.state === 'serving' && open !== undefined && (pod.answered.w1 ?? 0) >= open.n)
        this.#suspicions.delete(pod.id);
      const suspect = this.#suspicions.get(pod.id);
      pods[pod.id] = {
        ...{ inflight, used: real?.used ?? 0, good: real?.used ?? 0, lastGoodMs: real?.lastGoodMs ?? 0 },
        ...{ oldestSlotMs: 0, pagesPerSecond: 0 },
        ...(suspect === undefined ? {} : { suspect: { ...suspect, code: 'pod_failed' } }),
      };
      held[pod.id] = pod.state === 'serving' ? pod.width : 0;
    }
    this.#seq += 1;
    const pools = {
      [POOL.name]: { inflight: this.demand - left, waiting: left, unsplit: 0, refused: 0, oldestWaitMs: 0 },
    };
    const totals = {
      pagesOk: 0,
      pagesFailed: 0,
      pagesRefused: 0,
      pagesRetried: 0,
      bytesInMemory: 0,
      bytesSpooled: 0,
      loopDelayP99Ms: 0,
      rssBytes: 0,
    };
    const report: Report = {
      v: 1,
      bootId: 'w1',
      worker: 0,
      epoch: 1,
      ack: 1,
      seq: this.#seq,
      atMs: this.nowMs,
      held,
      pods,
      pools,
      totals,
    };
    this.#reports = { report, receivedAtMs: this.nowMs };
  }

  #later(ms: number, run: () => void): void {
    this.#pending.push({ atMs: this.nowMs + ms, run });
  }
}

const FOREIGN: ListedPod = {
  ...{ id: 'theirs', name: 'other-ocr-1', status: 'running', url: null, priceUsdPerHour: 9, createdAtMs: 0 },
  ...{ card: null, cloud: null },
  mark: { clusterId: 'other', podKey: 'x', pool: POOL.name, width: 4, configHash: 'h', spot: false },
};

function listedOf(pod: CloudPod): ListedPod {
  return {
    ...{ id: pod.id, name: pod.name, status: 'running', url: `http://${pod.id}:1`, priceUsdPerHour: 0.5 },
    ...{ createdAtMs: pod.createdAtMs, card: null, cloud: null },
    mark: {
      clusterId: CLUSTER,
      podKey: pod.key,
      pool: POOL.name,
      width: POOL.width,
      configHash: POOL.configHash,
      spot: false,
    },
  };
}
