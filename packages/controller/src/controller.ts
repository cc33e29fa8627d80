import { randomUUID } from 'node:crypto';
import type { ClusterFile, FleetPlan, FleetStatus } from '@pagefleet/contract';
import { decide, liveCost, type MergedReports, NO_LISTING, type PoolSettings } from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import type { Bus, ClusterPaths, ClusterSecret, Logger } from '@pagefleet/runtime';
import { runPass } from './apply/pass-runner.ts';
import { downFleet } from './down-fleet.ts';
import { createEpochGuard, type EpochGuard } from './epoch-guard.ts';
import { Fleet } from './fleet.ts';
import { ForwardingChild } from './forward/forwarding-child.ts';
import type { DownRequest } from './http/down-route.ts';
import { createMetrics } from './metrics.ts';
import type { SwapOutcome } from './nginx/generations.ts';
import { NginxKeeper } from './nginx/nginx-keeper.ts';
import { workerPorts } from './nginx/worker-addresses.ts';
import { ListingKeeper } from './observe/listing-keeper.ts';
import { createPodProber, type PodProber } from './observe/pod-prober.ts';
import { watchWorkers } from './observe/watch-workers.ts';
import { WorkerBook } from './observe/worker-book.ts';
import { type PassLoop, startPassLoop } from './pass-loop.ts';
import { createPodTokens, type PodTokens } from './pod-tokens.ts';
import { EpochSlices } from './slices/epoch-slices.ts';
import { describePlan } from './status/describe-plan.ts';
import { PassNotes } from './status/pass-notes.ts';
import { podsLeft } from './status/pods-left.ts';
import { createStatusReader } from './status/status-reader.ts';
import { type Facts, observeWorld, poolSettingsOf } from './world.ts';

export interface ControllerDeps {
  readonly cluster: ClusterFile;
  readonly paths: ClusterPaths;
  readonly secret: ClusterSecret;
  readonly bus: Bus;
  readonly provider: Provider;
  readonly controllerId: string;
  readonly logger: Logger;
  readonly onDeposed: () => void;
}

/** One listing watches all boots, about every 2 s; where it costs nothing, a little faster. */
const LISTING_GAP_MS = { paid: 2_000, free: 500 } as const;

/**
 * Observe → decide → apply. What is decided is core's; here is who asks, who is asked, and in which order it is done.
 */
export class Controller {
  readonly #deps: ControllerDeps;
  readonly #logger: Logger;
  readonly #fleet: Fleet;
  readonly #pools: readonly PoolSettings[];
  readonly #prober: PodProber;
  readonly #guard: EpochGuard;
  readonly #listings: ListingKeeper;
  readonly #nginx: NginxKeeper;
  readonly #forwarder: ForwardingChild;
  readonly #notes: PassNotes;
  readonly #tokens: PodTokens;
  readonly #slices: EpochSlices;
  readonly #facts: Facts = {
    listing: NO_LISTING,
    providerAnsweredMs: null,
    offers: null,
    closing: false,
    stopping: false,
    probes: new Map(),
    workers: new WorkerBook(),
  };
  readonly #metrics = createMetrics();
  readonly #stops: (() => void)[] = [];
  readonly #status: () => Promise<FleetStatus>;
  #loop: PassLoop | null = null;
  #lastConnectedMs: number | null = null;
  #drainTimeoutMs: number | null = null;

  static async start(deps: ControllerDeps): Promise<Controller> {
    const fleet = await Fleet.open({
      folder: deps.paths.controllerDir,
      logger: deps.logger,
      nowMs: Date.now,
    });
    const controller = new Controller(deps, fleet);
    controller.#run();
    return controller;
  }

  private constructor(deps: ControllerDeps, fleet: Fleet) {
    const { cluster, provider, logger, bus, paths } = deps;
    this.#deps = deps;
    this.#fleet = fleet;
    this.#logger = logger;
    this.#notes = new PassNotes(logger);
    this.#pools = poolSettingsOf(cluster, () => provider.free);
    this.#prober = createPodProber(cluster.clusterId);
    this.#guard = createEpochGuard({
      bucket: bus.bucket('control'),
      controllerId: deps.controllerId,
      nowMs: Date.now,
      logger,
      journalEpoch: () => fleet.epoch,
      record: (epoch) => fleet.recordEpoch(epoch, deps.controllerId),
      onDeposed: () => this.#onDeposed(),
    });
    this.#listings = new ListingKeeper({
      provider,
      facts: this.#facts,
      logger,
      nowMs: Date.now,
      gapMs: provider.free ? LISTING_GAP_MS.free : LISTING_GAP_MS.paid,
      onListing: (outcome) => {
        this.#metrics.listings.inc({ outcome });
        this.#requestPass();
      },
    });
    this.#nginx = new NginxKeeper({
      cluster,
      paths,
      logger,
      wantedPorts: () =>
        workerPorts(cluster.ports.workers, this.#facts.workers.roster('workers'), Date.now()),
      onOutcome: (outcome) => this.#onGeneration(outcome),
    });
    this.#forwarder = new ForwardingChild(deps);
    this.#tokens = createPodTokens({ secret: deps.secret, fleet, marks: this.#listings.marks });
    this.#slices = new EpochSlices({
      bus,
      config: cluster.config,
      guard: this.#guard,
      registry: () => fleet.registry.pods,
      tokenOf: this.#tokens.tokenOf,
      isClosing: () => this.#facts.closing,
      suspendedUntilMs: (pool) => fleet.memory.pools[pool]?.pagesSuspendedUntilMs ?? 0,
      nowMs: Date.now,
      logger,
      onOpened: () => this.#requestPass(),
    });
    this.#status = createStatusReader({
      cluster,
      facts: this.#facts,
      notes: this.#notes,
      prober: this.#prober,
      registry: () => fleet.registry.pods,
      epoch: () => this.#guard.epoch(),
      newestRev: (bootId) => this.#slices.newestRev(bootId),
      tokenOf: this.#tokens.tokenOf,
      bus: () => ({ connected: bus.connected(), lastConnectedMs: this.#lastConnectedMs }),
      nowMs: Date.now,
    });
  }

  status(): Promise<FleetStatus> {
    return this.#status();
  }

  /** Decided on the present world and thrown away. */
  plan(): Promise<FleetPlan> {
    return this.#fleet.look('plan', () => describePlan(decide(this.#world()), this.#fleet.registry.pods));
  }

  async metrics(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#metrics.contentType, text: await this.#metrics.render(await this.#status()) };
  }

  health(): Record<string, unknown> {
    return {
      status: 'ok',
      program: 'controller',
      epoch: this.#guard.epoch(),
      bus: this.#deps.bus.connected() ? 'connected' : 'away',
      stopping: this.#facts.stopping,
    };
  }

  down(request: DownRequest): AsyncIterable<object> {
    return downFleet(request, {
      clusterId: this.#deps.cluster.clusterId,
      nowMs: Date.now,
      pods: () => this.#fleet.registry.pods.values(),
      listing: () => this.#facts.listing,
      closeDoor: () => {
        this.#facts.closing = true;
        this.#logger.warn(request, 'fleet_down_asked');
        this.#slices.planSoon();
      },
      pagesLeft: () => pagesLeft(this.#world().reports),
      stop: (drainTimeoutMs) => {
        this.#facts.stopping = true;
        this.#drainTimeoutMs = drainTimeoutMs;
        this.#logger.warn({ drainTimeoutMs }, 'fleet_stopping');
        this.#requestPass();
      },
      wantListing: (atMs) => this.#listings.want(atMs),
      inFlight: (podId) => this.#world().reports?.pods.get(podId)?.inflight ?? 0,
      hourlyUsd: () => liveCost(this.#world()).usdPerHour,
      graceMs: Math.max(...this.#pools.map((pool) => pool.graceMs)),
    });
  }

  /** Leaves the pods to be adopted; nothing of the fleet is changed. */
  async stop(): Promise<void> {
    this.#guard.stop();
    this.#listings.stop();
    this.#nginx.stop();
    this.#slices.close();
    for (const stop of this.#stops) stop();
    await this.#loop?.stop();
    await this.#forwarder.stop();
    const left = podsLeft(this.#world());
    if (left !== null) this.#logger.warn(left, 'pods_left_running');
    await this.#fleet.close();
    await this.#prober.close();
  }

  #run(): void {
    const { bus } = this.#deps;
    this.#stops.push(
      bus.onState((connected) => this.#onBusState(connected)),
      watchWorkers({
        bus,
        book: this.#facts.workers,
        recordFile: this.#deps.paths.workerFile,
        logger: this.#logger,
        nowMs: Date.now,
        onRoster: () => {
          this.#nginx.check();
          this.#requestPass();
        },
        onNews: () => this.#requestPass(),
      }),
    );
    if (bus.connected()) this.#onBusState(true);
    this.#listings.want(Date.now());
    this.#loop = startPassLoop({
      runPass: () => this.#pass(),
      nowMs: Date.now,
      onFailure: (err) => this.#logger.error({ err }, 'pass_failed'),
    });
    void this.#guard.start().then(() => this.#slices.open());
    this.#forwarder.start().catch((err: unknown) => this.#logger.error({ err }, 'forwarder_failed'));
  }

  async #pass(): Promise<{ wakeAtMs: number }> {
    const { cluster, secret, provider } = this.#deps;
    const next = await runPass({
      ...{ cluster, secret, provider },
      fleet: this.#fleet,
      facts: this.#facts,
      notes: this.#notes,
      tokens: this.#tokens,
      prober: this.#prober,
      guard: this.#guard,
      listings: this.#listings,
      metrics: this.#metrics,
      logger: this.#logger,
      nowMs: Date.now,
      world: () => this.#world(),
      requestPass: () => this.#requestPass(),
    });
    this.#slices.planSoon();
    return next;
  }

  #world() {
    const pools = this.#pools.map((pool) => ({
      ...pool,
      graceMs: Math.min(pool.graceMs, this.#drainTimeoutMs ?? pool.graceMs),
    }));
    return observeWorld(
      {
        cluster: this.#deps.cluster,
        clusterId: this.#deps.cluster.clusterId,
        pools,
        fleet: this.#fleet,
        facts: this.#facts,
        busConnected: () => this.#deps.bus.connected(),
        epoch: () => this.#guard.epoch(),
      },
      Date.now(),
    );
  }

  #requestPass(): void {
    this.#loop?.request();
  }

  #onBusState(connected: boolean): void {
    if (!connected) this.#lastConnectedMs = Date.now();
    this.#logger.info({ connected }, 'bus_state');
    this.#requestPass();
  }

  #onGeneration(outcome: SwapOutcome): void {
    this.#metrics.generations.inc({ outcome: outcome.kind });
    const isRefused = outcome.kind === 'refused';
    this.#logger[isRefused ? 'error' : 'info'](outcome, 'nginx_generation');
    this.#notes.alarms.set('nginx', isRefused ? ['nginx refuses the new set of workers'] : [], Date.now());
  }

  #onDeposed(): void {
    this.#slices.close();
    void this.#loop?.stop();
    this.#deps.onDeposed();
  }
}

/** Refused pages are none of ours any more. null while any worker is silent. */
function pagesLeft(reports: MergedReports | null): number | null {
  if (reports?.complete !== true) return null;
  return [...reports.pools.values()].reduce(
    (sum, pool) => sum + pool.inflight + pool.waiting + pool.unsplit,
    0,
  );
}

export function newControllerId(): string {
  return randomUUID();
}
