import { type ClusterFile, modelNamesOf, type Pool } from '@pagefleet/contract';
import {
  type BudgetLimits,
  isExisting,
  type Lease,
  type ListedPod,
  type ListingHistory,
  mergeReports,
  type OfferBook,
  type OfferPolicy,
  type PoolSettings,
  type ProbeResult,
  pricedPools,
  type Registry,
  type World,
} from '@pagefleet/core';
import type { ListedPod as AccountPod } from '@pagefleet/providers';
import { configHashOf } from '@pagefleet/runtime';
import type { Fleet } from './fleet.ts';
import type { WorkerBook } from './observe/worker-book.ts';

/** A draining pod is ended after the longest a page may take and the time its answer needs to get home. */
const DRAIN_MARGIN_MS = 30_000;

/** All that is observed, beside the registry that the fleet owns. */
export interface Facts {
  listing: ListingHistory;
  providerAnsweredMs: number | null;
  /** the newest catalogue; null = none needed, or none came in yet */
  offers: OfferBook | null;
  /** `down` was asked for: workers take no new pages, nothing more is rented */
  closing: boolean;
  /** … and every pod leaves */
  stopping: boolean;
  readonly probes: Map<string, ProbeResult>;
  readonly workers: WorkerBook;
}

export interface WorldSources {
  readonly cluster: ClusterFile;
  readonly clusterId: string;
  readonly pools: readonly PoolSettings[];
  readonly fleet: Fleet;
  readonly facts: Facts;
  readonly busConnected: () => boolean;
  /** 0 until this controller holds one */
  readonly epoch: () => number;
}

/** One picture of everything, at one instant. Without the bus, what workers do is unknown, which is not "nothing". */
export function observeWorld(sources: WorldSources, nowMs: number): World {
  const { fleet, facts } = sources;
  const epoch = sources.epoch();
  const isBusKnown = epoch > 0 && sources.busConnected();
  const world: World = {
    nowMs,
    clusterId: sources.clusterId,
    registry: fleet.registry.pods,
    pools: sources.pools,
    watch: sources.cluster.config.control,
    listing: facts.listing,
    probes: facts.probes,
    providerAnsweredMs: facts.providerAnsweredMs,
    reports: isBusKnown
      ? mergeReports(facts.workers.received(), { nowMs, epoch, alive: facts.workers.alive() })
      : null,
    offers: facts.offers,
    leases: facts.closing
      ? sources.pools.map((pool) => capAtPresent(pool.name, fleet.registry.pods))
      : fleet.money.leases(nowMs),
    schedule: fleet.money.calendar.schedule(nowMs),
    limits: limitsOf(sources.cluster),
    spentTodayUsd: fleet.money.spentTodayUsd(nowMs),
    memory: fleet.memory,
    stopping: facts.stopping,
  };
  // So that whoever asks `caps()` outside a pass sees the money that one more pod takes.
  return { ...world, pools: pricedPools(world.pools, world) };
}

/** Like a client's lease that asks for no pods and for no more than there are. */
function capAtPresent(pool: string, pods: Registry): Lease {
  const present = [...pods.values()].filter((pod) => pod.pool === pool && isExisting(pod));
  return { id: 'down', pool, pods: 0, maxPods: present.length, expiresAtMs: Number.MAX_SAFE_INTEGER };
}

/** 0 = not set; a hard limit that is not set is the soft one. */
function limitsOf({ config: { money } }: ClusterFile): BudgetLimits {
  const usd = (amount: number) => (amount > 0 ? amount : null);
  return {
    usdPerHour: usd(money.usdPerHour),
    usdPerDay: usd(money.usdPerDay),
    hardUsdPerHour: usd(money.hardUsdPerHour),
    hardUsdPerDay: usd(money.hardUsdPerDay),
  };
}

export function poolSettingsOf(cluster: ClusterFile, isFree: (pool: Pool) => boolean): PoolSettings[] {
  const { limits, control, pools } = cluster.config;
  return pools.map((pool) => ({
    name: pool.name,
    models: modelNamesOf(pool),
    configHash: configHashOf(pool),
    width: Math.min(pool.width, limits.maxInflightPerPod),
    minPods: pool.minPods,
    maxPods: pool.maxPods,
    bootDeadlineMs: pool.bootDeadlineMs,
    bootEstimateMs: pool.bootEstimateMs,
    idleTimeoutMs: pool.idleTimeoutMs,
    rampPods: control.rampPods,
    graceMs: limits.pageDeadlineMs + DRAIN_MARGIN_MS,
    free: isFree(pool),
    policy: isFree(pool) ? null : policyOf(pool),
    offer: null,
    maxAgeMs: isFree(pool) ? null : pool.machine.maxAgeMs,
    priceUsdPerHour: isFree(pool) ? 0 : null,
    maxPriceUsdPerHour: pool.machine.maxUsdPerHour > 0 ? pool.machine.maxUsdPerHour : null,
  }));
}

function policyOf({ machine }: Pool): OfferPolicy {
  return {
    cards: machine.cards.map(({ id, maxUsdPerHour }) => ({
      card: id,
      maxUsdPerHour: maxUsdPerHour > 0 ? maxUsdPerHour : null,
    })),
    minMemoryGb: machine.minVramGb,
    clouds: machine.clouds,
    spot: machine.spot,
  };
}

/** The account's entry as decisions see it: the provider's own words stay outside. */
export function listedPodOf(entry: AccountPod): ListedPod {
  return {
    id: entry.id,
    name: entry.name,
    status: entry.status,
    url: entry.url,
    card: entry.card,
    cloud: entry.cloud,
    priceUsdPerHour: entry.priceUsdPerHour,
    createdAtMs: entry.createdAtMs,
    mark: entry.mark,
  };
}
