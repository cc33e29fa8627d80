import type { ClusterFile, EpochRecord, PodHealth } from '@pagefleet/contract';
import type {
  ListingHistory,
  MintIdentity,
  Plan,
  Pod,
  ProbeOutcome,
  ReceivedReport,
  Registry,
  World,
} from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import type { Bucket, ClusterSecret } from '@pagefleet/runtime';
import type { DiskCalls } from './disk.ts';
import type { Life } from './life.ts';

interface ProbeTarget {
  readonly url: string;
  readonly token: string;
}

interface ProbeAnswer {
  readonly outcome: ProbeOutcome;
  readonly health: PodHealth | null;
}

/** What the operator has configured, as far as runs differ in it. */
export interface WorldSettings {
  readonly isFree: boolean;
  readonly pools: readonly { readonly name: string; readonly minPods: number; readonly maxPods: number }[];
  readonly usdPerHour: number;
  readonly usdPerDay: number;
  readonly listingGapMs: number;
  readonly longestPauseMs: number;
}

/** All that one life of a controller has of the world outside of it. */
export interface Outside {
  readonly controllerId: string;
  readonly cluster: Pick<ClusterFile, 'clusterId'>;
  readonly settings: WorldSettings;
  readonly secret: ClusterSecret;
  readonly clock: Life['clock'];
  readonly disk: DiskCalls;
  readonly provider: Provider;
  readonly prober: {
    probe(
      target: ProbeTarget,
      options: { timeoutMs: number; lane: 'boot' | 'control' },
    ): Promise<ProbeAnswer>;
    trial(target: ProbeTarget, timeoutMs: number): Promise<ProbeAnswer>;
    close(): Promise<void>;
  };
  readonly control: Bucket<EpochRecord>;
  readonly busConnected: () => boolean;
  readonly workers: {
    received(): ReceivedReport[];
    alive(): string[];
  };
  readonly mint: MintIdentity;
  /** told of every decision, before it is carried out */
  readonly onDecided: (world: World, plan: Plan) => void;
  readonly onDeposed: () => void;
  /** one line of the controller's own log */
  readonly log: ((event: string, fields: unknown) => void) | null;
}

/** The controller under test: one life of it. */
export interface TestedController {
  /** reads its journal and goes on from there; resolves when it runs */
  start(): Promise<void>;
  /** what it holds now; null until it has read its journal */
  view(): ControllerView | null;
  /** a report came in that a pass should look at */
  onNews(): void;
  /** the operator's `down`: no page comes in any more … */
  closeDoor(): void;
  /** … and every pod leaves */
  endAll(drainTimeoutMs: number): void;
}

export interface ControllerView {
  readonly registry: Registry;
  readonly epoch: number;
  readonly listing: ListingHistory;
  /** what it says the fleet bills now */
  readonly liveUsdPerHour: number;
  /** what its ledger says was spent so far */
  readonly spentUsd: number;
  tokenOf(pod: Pod): string | null;
}

export type BuildController = (outside: Outside) => TestedController;
