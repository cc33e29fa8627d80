import type { ClusterFile, EpochRecord } from '@pagefleet/contract';
import {
  decide,
  type MintIdentity,
  NO_LISTING,
  type Plan,
  type PoolSettings,
  type World,
} from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import type { Bucket, ClusterSecret, Logger } from '@pagefleet/runtime';
import { runPass } from './apply/pass-runner.ts';
import type { Clock } from './clock.ts';
import { createEpochGuard, type EpochGuard } from './epoch-guard.ts';
import type { Fleet } from './fleet.ts';
import type { RenterMetrics } from './metrics.ts';
import { createBillReader } from './money/bill-reader.ts';
import { ListingKeeper } from './observe/listing-keeper.ts';
import type { PodProber } from './observe/pod-prober.ts';
import type { WorkerBook } from './observe/worker-book.ts';
import { type PassLoop, startPassLoop } from './pass-loop.ts';
import { createPodTokens, type PodTokens } from './pod-tokens.ts';
import { PassNotes } from './status/pass-notes.ts';
import { type Facts, observeWorld, poolSettingsOf } from './world.ts';

export interface RenterDeps {
  readonly cluster: ClusterFile;
  readonly secret: ClusterSecret;
  readonly controllerId: string;
  readonly fleet: Fleet;
  readonly provider: Provider;
  readonly prober: PodProber;
  readonly workers: WorkerBook;
  readonly control: Bucket<EpochRecord>;
  readonly busConnected: () => boolean;
  readonly metrics: RenterMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** key and name of a pod that is about to be rented */
  readonly mint: MintIdentity;
  readonly decide?: (world: World) => Plan;
  readonly listingGapMs?: number;
  readonly longestPauseMs?: number;
  readonly onPass: () => void;
  readonly onDeposed: () => void;
}

/** One listing watches all boots, about every 2 s; where it costs nothing, a little faster. */
const LISTING_GAP_MS = { paid: 2_000, free: 500 } as const;

/**
 * The half of the controller that money hangs on: observe → decide → apply, with the pods' owner, the listings, the epoch
 * and the passes. All of the outside comes in through `RenterDeps`, so that `sim/world` runs this very code.
 */
export class Renter {
  readonly facts: Facts;
  readonly guard: EpochGuard;
  readonly listings: ListingKeeper;
  readonly notes: PassNotes;
  readonly tokens: PodTokens;
  readonly pools: readonly PoolSettings[];
  readonly #deps: RenterDeps;
  /** keys of the paid calls that are under way */
  readonly #calls = new Set<string>();
  readonly #readBills: () => void;
  #loop: PassLoop | null = null;
  #drainTimeoutMs: number | null = null;

  constructor(deps: RenterDeps) {
    const { cluster, provider, logger, clock, fleet, secret } = deps;
    this.#deps = deps;
    this.facts = {
      listing: NO_LISTING,
      providerAnsweredMs: null,
      offers: null,
      closing: false,
      stopping: false,
      probes: new Map(),
      workers: deps.workers,
    };
    this.#readBills = createBillReader({ fleet, provider, logger, nowMs: clock.nowMs });
    this.notes = new PassNotes(logger);
    this.pools = poolSettingsOf(cluster, () => provider.free);
    this.guard = createEpochGuard({
      bucket: deps.control,
      controllerId: deps.controllerId,
      clock,
      logger,
      journalEpoch: () => fleet.epoch,
      record: (epoch) => fleet.recordEpoch(epoch, deps.controllerId),
      onDeposed: () => {
        void this.#loop?.stop();
        deps.onDeposed();
      },
    });
    this.listings = new ListingKeeper({
      provider,
      facts: this.facts,
      logger,
      clock,
      gapMs: deps.listingGapMs ?? (provider.free ? LISTING_GAP_MS.free : LISTING_GAP_MS.paid),
      onListing: (outcome) => {
        deps.metrics.listings.inc({ outcome });
        this.requestPass();
      },
    });
    this.tokens = createPodTokens({ secret, fleet, marks: this.listings.marks });
  }

  /** Resolves once an epoch is held. */
  start(): Promise<void> {
    const { clock, logger, longestPauseMs } = this.#deps;
    this.listings.want(clock.nowMs());
    this.#loop = startPassLoop({
      runPass: () => this.#pass(),
      clock,
      onFailure: (err) => logger.error({ err }, 'pass_failed'),
      ...(longestPauseMs === undefined ? {} : { longestPauseMs }),
    });
    return this.guard.start();
  }

  /** Leaves the pods as they are. */
  async stop(): Promise<void> {
    this.guard.stop();
    this.listings.stop();
    await this.#loop?.stop();
  }

  requestPass(): void {
    this.#loop?.request();
  }

  /** Decided on the present world and thrown away. */
  look<T>(show: (plan: Plan) => T): Promise<T> {
    return this.#deps.fleet.look('plan', () => show(decide(this.world())));
  }

  /** From now on no worker takes new pages, and no pod is rented. */
  closeDoor(): void {
    this.facts.closing = true;
  }

  /** Every pod leaves, and gets at most this long to finish its pages. */
  endAll(drainTimeoutMs: number): void {
    this.facts.stopping = true;
    this.#drainTimeoutMs = drainTimeoutMs;
    this.#deps.logger.warn({ drainTimeoutMs }, 'fleet_stopping');
    this.requestPass();
  }

  world(): World {
    const { cluster, fleet, clock, busConnected } = this.#deps;
    const pools = this.pools.map((pool) => ({
      ...pool,
      graceMs: Math.min(pool.graceMs, this.#drainTimeoutMs ?? pool.graceMs),
    }));
    const { clusterId } = cluster;
    const epoch = () => this.guard.epoch();
    return observeWorld(
      { cluster, clusterId, pools, fleet, facts: this.facts, busConnected, epoch },
      clock.nowMs(),
    );
  }

  async #pass(): Promise<{ wakeAtMs: number }> {
    const deps = this.#deps;
    const next = await runPass({
      ...deps,
      facts: this.facts,
      notes: this.notes,
      tokens: this.tokens,
      guard: this.guard,
      listings: this.listings,
      calls: this.#calls,
      nowMs: deps.clock.nowMs,
      decide: () => (deps.decide ?? decide)(this.world()),
      requestPass: () => this.requestPass(),
    });
    this.#readBills();
    deps.onPass();
    return next;
  }
}
