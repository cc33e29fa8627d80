import { randomUUID } from 'node:crypto';
import type { ClusterFile, FleetPlan, FleetStatus } from '@pagefleet/contract';
import { liveCost, type MergedReports } from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import type { Bus, ClusterPaths, ClusterSecret, Logger } from '@pagefleet/runtime';
import { mintIdentity } from './apply/rent-pod.ts';
import { realClock, sleepOn } from './clock.ts';
import { downFleet } from './down-fleet.ts';
import { Fleet } from './fleet.ts';
import { ForwardingChild } from './forward/forwarding-child.ts';
import type { DownRequest } from './http/down-route.ts';
import { fleetOnlyKeys } from './leases/fleet-only-keys.ts';
import { createLeaseDesk, type LeaseDesk } from './leases/lease-desk.ts';
import { createMetrics } from './metrics.ts';
import { createCalendar } from './money/calendar.ts';
import type { SwapOutcome } from './nginx/generations.ts';
import { NginxKeeper } from './nginx/nginx-keeper.ts';
import { workerPorts } from './nginx/worker-addresses.ts';
import { createPodProber, type PodProber } from './observe/pod-prober.ts';
import { watchWorkers } from './observe/watch-workers.ts';
import { WorkerBook } from './observe/worker-book.ts';
import { Renter } from './renter.ts';
import { EpochSlices } from './slices/epoch-slices.ts';
import { describePlan } from './status/describe-plan.ts';
import { podsLeft } from './status/pods-left.ts';
import { createStatusReader } from './status/status-reader.ts';

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

/**
 * The renter, and round it all that serves it and shows it: workers, slices, nginx, the forwarding child, status, metrics.
 */
export class Controller {
  readonly #deps: ControllerDeps;
  readonly #logger: Logger;
  readonly #fleet: Fleet;
  readonly #prober: PodProber;
  readonly #renter: Renter;
  readonly #workers = new WorkerBook();
  readonly #nginx: NginxKeeper;
  readonly #forwarder: ForwardingChild;
  readonly #slices: EpochSlices;
  readonly #metrics = createMetrics();
  readonly #stops: (() => void)[] = [];
  readonly #leases: LeaseDesk;
  readonly #status: () => Promise<FleetStatus>;
  #lastConnectedMs: number | null = null;

  static async start(deps: ControllerDeps): Promise<Controller> {
    const fleet = await Fleet.open({
      folder: deps.paths.controllerDir,
      logger: deps.logger,
      nowMs: Date.now,
      calendar: createCalendar(deps.cluster.config),
    });
    const controller = new Controller(deps, fleet);
    controller.#run();
    return controller;
  }

  private constructor(deps: ControllerDeps, fleet: Fleet) {
    const { cluster, logger, bus, paths } = deps;
    this.#deps = deps;
    this.#fleet = fleet;
    this.#logger = logger;
    this.#prober = createPodProber(cluster.clusterId);
    this.#renter = new Renter({
      ...deps,
      fleet,
      prober: this.#prober,
      workers: this.#workers,
      control: bus.bucket('control'),
      busConnected: () => bus.connected(),
      metrics: this.#metrics,
      clock: realClock,
      mint: mintIdentity(cluster.config.cluster),
      onPass: () => this.#slices.planSoon(),
      onDeposed: () => {
        this.#slices.close();
        deps.onDeposed();
      },
    });
    this.#nginx = new NginxKeeper({
      cluster,
      paths,
      logger,
      wantedPorts: () => workerPorts(cluster.ports.workers, this.#workers.roster('workers'), Date.now()),
      onOutcome: (outcome) => this.#onGeneration(outcome),
    });
    this.#forwarder = new ForwardingChild(deps);
    const { guard, tokens, facts, notes } = this.#renter;
    this.#slices = new EpochSlices({
      bus,
      config: cluster.config,
      guard,
      registry: () => fleet.registry.pods,
      tokenOf: tokens.tokenOf,
      isClosing: () => facts.closing,
      fleetOnly: (pool) => fleetOnlyKeys(fleet.money.state.leases, pool, Date.now()),
      suspendedUntilMs: (pool) => fleet.memory.pools[pool]?.pagesSuspendedUntilMs ?? 0,
      nowMs: Date.now,
      logger,
      onOpened: () => this.#renter.requestPass(),
    });
    this.#leases = createLeaseDesk({
      ...{ fleet, logger, nowMs: Date.now },
      world: () => this.#renter.world(),
      requestPass: () => this.#renter.requestPass(),
    });
    this.#status = createStatusReader({
      ...{ cluster, facts, notes, prober: this.#prober },
      registry: () => fleet.registry.pods,
      money: fleet.money,
      usage: () => deps.provider.usage(),
      epoch: () => guard.epoch(),
      newestRev: (bootId) => this.#slices.newestRev(bootId),
      tokenOf: tokens.tokenOf,
      bus: () => ({ connected: bus.connected(), lastConnectedMs: this.#lastConnectedMs }),
      nowMs: Date.now,
    });
  }

  get leases(): LeaseDesk {
    return this.#leases;
  }

  status(): Promise<FleetStatus> {
    return this.#status();
  }

  /** Decided on the present world and thrown away. */
  plan(): Promise<FleetPlan> {
    return this.#renter.look((plan) => describePlan(plan, this.#fleet.registry.pods));
  }

  async metrics(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#metrics.contentType, text: await this.#metrics.render(await this.#status()) };
  }

  health(): Record<string, unknown> {
    return {
      status: 'ok',
      program: 'controller',
      epoch: this.#renter.guard.epoch(),
      bus: this.#deps.bus.connected() ? 'connected' : 'away',
      stopping: this.#renter.facts.stopping,
    };
  }

  down(request: DownRequest): AsyncIterable<object> {
    const renter = this.#renter;
    return downFleet(request, {
      clusterId: this.#deps.cluster.clusterId,
      nowMs: realClock.nowMs,
      sleep: (ms) => sleepOn(realClock, ms),
      pods: () => this.#fleet.registry.pods.values(),
      listing: () => renter.facts.listing,
      closeDoor: () => {
        renter.closeDoor();
        this.#logger.warn(request, 'fleet_down_asked');
        this.#slices.planSoon();
      },
      pagesLeft: () => pagesLeft(renter.world().reports),
      stop: (drainTimeoutMs) => renter.endAll(drainTimeoutMs),
      wantListing: (atMs) => renter.listings.want(atMs),
      inFlight: (podId) => renter.world().reports?.pods.get(podId)?.inflight ?? 0,
      hourlyUsd: () => liveCost(renter.world()).usdPerHour,
      graceMs: Math.max(...renter.pools.map((pool) => pool.graceMs)),
    });
  }

  /** Leaves the pods to be adopted; nothing of the fleet is changed. */
  async stop(): Promise<void> {
    this.#renter.guard.stop();
    this.#nginx.stop();
    this.#slices.close();
    for (const stop of this.#stops) stop();
    await this.#renter.stop();
    await this.#forwarder.stop();
    const left = podsLeft(this.#renter.world());
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
        book: this.#workers,
        recordFile: this.#deps.paths.workerFile,
        logger: this.#logger,
        nowMs: Date.now,
        onRoster: () => {
          this.#nginx.check();
          this.#renter.requestPass();
        },
        onNews: () => this.#renter.requestPass(),
      }),
    );
    if (bus.connected()) this.#onBusState(true);
    void this.#renter.start().then(() => this.#slices.open());
    this.#forwarder.start().catch((err: unknown) => this.#logger.error({ err }, 'forwarder_failed'));
  }

  #onBusState(connected: boolean): void {
    if (!connected) this.#lastConnectedMs = Date.now();
    this.#logger.info({ connected }, 'bus_state');
    this.#renter.requestPass();
  }

  #onGeneration(outcome: SwapOutcome): void {
    this.#metrics.generations.inc({ outcome: outcome.kind });
    const isRefused = outcome.kind === 'refused';
    this.#logger[isRefused ? 'error' : 'info'](outcome, 'nginx_generation');
    const messages = isRefused ? ['nginx refuses the new set of workers'] : [];
    this.#renter.notes.alarms.set('nginx', messages, Date.now());
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
