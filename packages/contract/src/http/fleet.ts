import type { LeaseStatus } from './lease.ts';

/** `GET /v1/fleet/status`, also `/v1/runpod/status`. Names are contract: they are never renamed. */
export interface FleetStatus {
  cluster: string;
  at: string;
  epoch: number;
  summary: {
    pods_ready: number;
    pods_booting: number;
    pods_quarantined: number;
    pods_draining: number;
    live_hourly_usd: number;
    live_hourly_serving_usd: number;
    live_hourly_booting_usd: number;
    live_hourly_quarantined_usd: number;
    /** of live_hourly_usd, from 0 to 1 */
    live_booting_share: number;
    spend_today_usd: number;
    spend_month_usd: number;
    pages_in_flight: number;
    pages_waiting: number;
    pages_per_second: number;
  };
  pools: PoolStatus[];
  pods: PodStatus[];
  workers: WorkerStatus[];
  money: MoneyStatus;
  account: AccountStatus;
  /** clients see their own, operators all */
  leases: LeaseStatus[];
  /** sources that were late: their values are the last known ones, with their age */
  degraded: { source: string; ageMs: number | null; reason: string }[];
  alarms: { code: string; message: string; sinceMs: number }[];
}

export interface PoolStatus {
  name: string;
  models: string[];
  provider: string;
  engine: string;
  min_pods: number;
  max_pods: number;
  effective_max_pods: number;
  /** which limit makes `effective_max_pods` what it is */
  binding: string;
  client_pods: number | null;
  client_max_pods: number | null;
  client_lease_expires_in_s: number | null;
  pods: Record<PodStateWord, number>;
  in_flight: number;
  waiting: number;
  unsplit: number;
  refused: number;
  pages_per_second: number;
  live_hourly_usd: number;
  spend_today_usd: number;
  spend_month_usd: number;
}

/** The provider's account. Empty for a provider that costs nothing. */
export interface AccountStatus {
  apis: {
    api: string;
    calls_last_hour: number;
    /** null = none */
    hourly_budget: number | null;
    over_budget: boolean;
    /** nothing is sent for so long; null = not banned */
    banned_for_s: number | null;
    /** as the API said last */
    windows: { window: string; limit: number | null; remaining: number }[];
  }[];
  /** null = none needed, or none came in yet */
  catalogue: { source: string; age_s: number; offers: number } | null;
}

/** What was spent, by the ledger, and what may be. Days and months are those of `money.time_zone`. */
export interface MoneyStatus {
  day: string;
  time_zone: string;
  /** false = lines of today were lost on disk: nothing that costs money is rented before tomorrow */
  known: boolean;
  /** what today may have cost beyond spend_today_usd: up to the last listing is counted, the rest is open */
  open_today_usd: number;
  booting_today_usd: number;
  booting_month_usd: number;
  /** null = not set */
  per_hour: BudgetStatus | null;
  per_day: BudgetStatus | null;
  /** for whom pods were kept */
  leases: { lease: string; owner: string; today_usd: number; month_usd: number }[];
  /** what the provider's bills added to what was counted, newest last */
  corrections: { pod: string; pool: string; day: string; at: string; usd: number }[];
}

export interface BudgetStatus {
  soft_usd: number;
  hard_usd: number;
  /** until nothing more is rented */
  left_usd: number;
}

export type PodStateWord =
  | 'renting'
  | 'booting'
  | 'serving'
  | 'quarantined'
  | 'draining'
  | 'terminating'
  | 'terminated';

export interface PodStatus {
  id: string;
  name: string;
  pool: string;
  provider: string;
  state: PodStateWord;
  reason: string | null;
  capacity: number;
  soft_limit: number;
  inflight: number;
  used: number;
  price_usd_per_hour: number | null;
  /** what it was rented as; null = nothing was chosen, or not known */
  card: string | null;
  cloud: string | null;
  spot: boolean;
  age_s: number;
  last_probe_ago_s: number | null;
  quarantine_remaining_s: number | null;
  engine: string | null;
  cpu_percent: number | null;
  rss_bytes: number | null;
  pages_per_second: number;
  settings: Record<string, unknown> | null;
  /** version of the settings that the pod knows */
  settings_version: number | null;
  warnings: string[];
}

export interface WorkerStatus {
  worker: number;
  boot_id: string;
  pid: number;
  state: string;
  report_age_ms: number | null;
  acked: boolean;
  in_flight: number;
  waiting: number;
  pods: number;
  width: number;
  /** bodies and pages it holds; null = it has not reported */
  bytes_in_memory: number | null;
  bytes_spooled: number | null;
  rss_bytes: number | null;
}

/** `GET /v1/fleet/plan`: what the next pass would do and why. */
export interface FleetPlan {
  at: string;
  actions: { kind: string; pod?: string; pool?: string; why: string }[];
  reasons: string[];
  wake_in_ms: number;
}
