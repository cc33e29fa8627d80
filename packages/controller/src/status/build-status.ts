import {
  type Config,
  type FleetStatus,
  modelNamesOf,
  POD_SETTINGS_VERSION,
  type PodHealth,
  type PodStateWord,
  type PodStatus,
  type PoolStatus,
  type RosterWorker,
  type WorkerStatus,
} from '@pagefleet/contract';
import {
  type Caps,
  type Day,
  type ListingHistory,
  liveCost,
  liveLease,
  type MergedReports,
  type OfferBook,
  type Pod,
  type ProbeResult,
  type ReceivedReport,
  type Registry,
} from '@pagefleet/core';
import type { ApiUsage } from '@pagefleet/providers';
import { showLease, showPoolLeases } from '../leases/show-lease.ts';
import type { MoneyState } from '../money/money-state.ts';
import { accountStatus } from './account-status.ts';
import { moneyStatus, spendOf } from './money-status.ts';

/** Everything the snapshot is made of, each part as it was last known. */
export interface StatusInput {
  readonly nowMs: number;
  readonly config: Config;
  readonly clusterId: string;
  readonly epoch: number;
  readonly registry: Registry;
  readonly listing: ListingHistory;
  readonly caps: Caps | null;
  readonly offers: OfferBook | null;
  readonly usage: readonly ApiUsage[];
  readonly money: MoneyState;
  /** in the operator's zone */
  readonly today: Day;
  readonly reports: MergedReports;
  readonly workers: readonly {
    readonly worker: RosterWorker;
    readonly received: ReceivedReport | null;
    readonly ackedRev: number | null;
  }[];
  readonly probes: ReadonlyMap<string, ProbeResult>;
  readonly health: ReadonlyMap<string, { readonly health: PodHealth; readonly atMs: number }>;
  readonly reasons: ReadonlyMap<string, string>;
  readonly alarms: FleetStatus['alarms'];
  readonly degraded: FleetStatus['degraded'];
}

const POD_STATES: readonly PodStateWord[] = [
  'renting',
  'booting',
  'serving',
  'quarantined',
  'draining',
  'terminating',
  'terminated',
];

/** The snapshot of. `live_hourly_usd` is the sum of its parts, and they bill the pods shown beside it. */
export function buildStatus(input: StatusInput): FleetStatus {
  const pods = [...input.registry.values()];
  const count = (...states: PodStateWord[]) => pods.filter((pod) => states.includes(pod.state)).length;
  const money = liveCost(input);
  const { ledger, leases } = input.money;
  const unheldBoots = Math.max(0, money.bootingPods - count('renting', 'booting'));
  const demands = [...input.reports.pools.values()];
  return {
    cluster: input.config.cluster,
    at: new Date(input.nowMs).toISOString(),
    epoch: input.epoch,
    summary: {
      pods_ready: count('serving'),
      // Pods of ours that only the listing shows are billed and on their way in, so they are shown too.
      pods_booting: count('renting', 'booting') + unheldBoots,
      pods_quarantined: count('quarantined'),
      pods_draining: count('draining', 'terminating'),
      live_hourly_usd: money.servingUsdPerHour + money.bootingUsdPerHour + money.setAsideUsdPerHour,
      live_hourly_serving_usd: money.servingUsdPerHour,
      live_hourly_booting_usd: money.bootingUsdPerHour,
      live_hourly_quarantined_usd: money.setAsideUsdPerHour,
      live_booting_share: money.usdPerHour === 0 ? 0 : round(money.bootingUsdPerHour / money.usdPerHour),
      ...spendOf(ledger, input.today),
      pages_in_flight: sum(demands.map((demand) => demand.inflight)),
      pages_waiting: sum(demands.map((demand) => demand.waiting)),
      pages_per_second: round(sum([...input.reports.pods.values()].map((pod) => pod.pagesPerSecond))),
    },
    pools: input.config.pools.map((pool) => poolStatus(pool, pods, input)),
    pods: pods.filter((pod) => pod.state !== 'terminated').map((pod) => podStatus(pod, input)),
    workers: input.workers
      .filter(({ worker }) => worker.state !== 'exited')
      .map((one) => workerStatus(one, input.nowMs)),
    money: moneyStatus({
      ...{ nowMs: input.nowMs, today: input.today, ledger },
      ...{ money: input.config.money, liveUsdPerHour: money.usdPerHour },
    }),
    account: accountStatus(input.usage, input.offers, input.nowMs),
    leases: leases.flatMap((held) => {
      const lease = liveLease(held, input.nowMs);
      return lease === null ? [] : [showLease(lease, input.nowMs)];
    }),
    degraded: input.degraded,
    alarms: input.alarms,
  };
}

function poolStatus(pool: Config['pools'][number], pods: readonly Pod[], input: StatusInput): PoolStatus {
  const cap = input.caps?.pools.get(pool.name);
  const demand = input.reports.pools.get(pool.name);
  const own = pods.filter((pod) => pod.pool === pool.name);
  const states = POD_STATES.map((state) => [state, own.filter((pod) => pod.state === state).length]);
  const rates = own.map((pod) => reportOf(pod, input)?.pagesPerSecond ?? 0);
  return {
    name: pool.name,
    models: modelNamesOf(pool),
    provider: pool.provider,
    engine: pool.engine,
    min_pods: pool.minPods,
    max_pods: pool.maxPods,
    effective_max_pods: cap?.effective ?? pool.maxPods,
    binding: cap?.binds ?? 'max_pods',
    ...showPoolLeases(input.money.leases, pool.name, input.nowMs),
    pods: Object.fromEntries(states) as Record<PodStateWord, number>,
    in_flight: demand?.inflight ?? 0,
    waiting: demand?.waiting ?? 0,
    unsplit: demand?.unsplit ?? 0,
    refused: demand?.refused ?? 0,
    pages_per_second: round(sum(rates)),
    live_hourly_usd: poolUsdPerHour(pool.name, own, input),
    ...spendOf(input.money.ledger, input.today, pool.name),
  };
}

/** Pods of the pool that only the listing shows are billed too. */
function poolUsdPerHour(pool: string, own: readonly Pod[], input: StatusInput): number {
  const ids = new Set(own.map((pod) => pod.id));
  const { newest } = input.listing;
  const pods = newest?.pods.filter(({ id, mark }) => ids.has(id) || mark?.pool === pool) ?? [];
  const listing = { newest: newest === null ? null : { ...newest, pods }, previous: null };
  const registry = new Map(own.map((pod) => [pod.key, pod]));
  return liveCost({ registry, listing, clusterId: input.clusterId }).usdPerHour;
}

function podStatus(pod: Pod, input: StatusInput): PodStatus {
  const { nowMs } = input;
  const report = reportOf(pod, input);
  const health = input.health.get(pod.key)?.health ?? null;
  const probe = input.probes.get(pod.key);
  const pool = input.config.pools.find((one) => one.name === pod.pool);
  return {
    id: pod.id ?? pod.name,
    name: pod.name,
    pool: pod.pool,
    provider: pool?.provider ?? 'local',
    state: pod.state,
    reason: input.reasons.get(pod.key) ?? null,
    capacity: pod.width,
    soft_limit: Math.min(pod.width, input.config.limits.maxInflightPerPod),
    inflight: report?.inflight ?? health?.inflight ?? 0,
    used: Math.max(report?.used ?? 0, health?.pagesDone ?? 0),
    price_usd_per_hour: pod.priceUsdPerHour,
    card: pod.offer?.card ?? null,
    cloud: pod.offer?.cloud ?? null,
    spot: pod.offer?.spot ?? false,
    age_s: seconds(nowMs - pod.createdAtMs),
    last_probe_ago_s: probe === undefined ? null : seconds(nowMs - probe.endedAtMs),
    quarantine_remaining_s: pod.state === 'quarantined' ? seconds(pod.nextProbeMs - nowMs) : null,
    engine: health?.engine ?? null,
    cpu_percent: health?.cpuPercent ?? null,
    rss_bytes: health?.rssBytes ?? null,
    pages_per_second: round(report?.pagesPerSecond ?? 0),
    settings: health === null ? null : shownSettings(health.settings),
    settings_version: health?.settingsVersion ?? null,
    warnings: health === null ? [] : warningsOf(health, pod),
  };
}

/** Where a pod is and what its token is made from is nobody's business who reads a status. */
const HIDDEN_SETTINGS = new Set([
  'podKey',
  'keyId',
  'clusterId',
  'podId',
  'name',
  'host',
  'port',
  'portFile',
]);

function shownSettings(settings: PodHealth['settings']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !HIDDEN_SETTINGS.has(name)));
}

/** what a pod runs with is its own word; what it does not know is named. */
function warningsOf(health: PodHealth, pod: Pod): string[] {
  const warnings = health.unknownSettings.map((name) => `the pod does not know the setting ${name}`);
  warnings.push(...(health.warnings ?? []));
  if (health.settingsVersion !== POD_SETTINGS_VERSION)
    warnings.push(
      `the pod knows version ${health.settingsVersion} of the settings, not ${POD_SETTINGS_VERSION}`,
    );
  if (health.configHash !== pod.configHash)
    warnings.push('the pod runs with other settings than it was sent');
  if (health.width !== pod.width)
    warnings.push(`the pod runs ${health.width} pages at once, not ${pod.width}`);
  return warnings;
}

function workerStatus(
  { worker, received, ackedRev }: StatusInput['workers'][number],
  nowMs: number,
): WorkerStatus {
  const report = received?.report ?? null;
  const demands = Object.values(report?.pools ?? {});
  const held = Object.values(report?.held ?? {});
  return {
    worker: worker.worker,
    boot_id: worker.bootId,
    pid: worker.pid,
    state: worker.state,
    report_age_ms: received === null ? null : Math.max(0, Math.round(nowMs - received.receivedAtMs)),
    acked: report !== null && ackedRev !== null && report.ack === ackedRev,
    in_flight: sum(demands.map((demand) => demand.inflight)),
    waiting: sum(demands.map((demand) => demand.waiting)),
    pods: held.filter((width) => width > 0).length,
    width: sum(held),
    bytes_in_memory: report?.totals.bytesInMemory ?? null,
    bytes_spooled: report?.totals.bytesSpooled ?? null,
    rss_bytes: report?.totals.rssBytes ?? null,
  };
}

function reportOf(pod: Pod, input: StatusInput) {
  return pod.id === null ? undefined : input.reports.pods.get(pod.id);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function seconds(ms: number): number {
  return Math.max(0, Math.round(ms / 1_000));
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
