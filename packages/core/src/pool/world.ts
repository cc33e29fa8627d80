import type { Lease } from './lease.ts';
import type { ListingHistory } from './listing.ts';
import type { Memory } from './memory.ts';
import type { MergedReports } from './merge-reports.ts';
import type { OfferBook } from './offer.ts';
import type { Pod } from './pod-state.ts';
import type { PoolSettings } from './pool-settings.ts';
import type { ProbeResult } from './probe.ts';
import type { ScheduleWindow } from './schedule.ts';
import type { WatchSettings } from './watch.ts';

/** By pod key. The key is a pod's only identity before the provider answers, and never changes. */
export type Registry = ReadonlyMap<string, Pod>;

/** null = no limit. A provider that costs money rents nothing without both. */
export interface BudgetLimits {
  readonly usdPerHour: number | null;
  readonly usdPerDay: number | null;
  /** above them pods drain; without them above the limits above */
  readonly hardUsdPerHour?: number | null;
  readonly hardUsdPerDay?: number | null;
}

/** All that a pass knows. `nowMs` is the only clock. */
export interface World {
  readonly nowMs: number;
  readonly clusterId: string;
  readonly registry: Registry;
  readonly pools: readonly PoolSettings[];
  readonly watch: WatchSettings;
  readonly listing: ListingHistory;
  /** the newest finished probe of each pod, by pod key */
  readonly probes: ReadonlyMap<string, ProbeResult>;
  /** when any call to the provider's API last succeeded */
  readonly providerAnsweredMs: number | null;
  /** null = unknown, the bus is away: nothing is rented and nothing scaled */
  readonly reports: MergedReports | null;
  /** the newest catalogue; null = none needed, or none came in yet */
  readonly offers: OfferBook | null;
  readonly leases: readonly Lease[];
  readonly schedule: readonly ScheduleWindow[];
  readonly limits: BudgetLimits;
  /** null = the ledger cannot be read: no paid rent */
  readonly spentTodayUsd: number | null;
  readonly memory: Memory;
  /** `down` was asked for: nothing is rented, every pod leaves */
  readonly stopping: boolean;
}
