import type { ClusterFile, Config } from '@pagefleet/contract';
import { Fleet, Renter, WorkerBook } from '@pagefleet/controller/renting';
import {
  decide,
  type Ledger,
  liveCost,
  type Plan,
  type ReceivedReport,
  spent,
  type World,
} from '@pagefleet/core';
import { type Logger, loadConfig } from '@pagefleet/runtime';
import { type BuildController, type ControllerView, type Outside, POOL_TIMES } from '@pagefleet/sim';

/** What a rule broken on purpose may replace; the rest is the controller as it runs in production. */
export interface Sabotage {
  readonly decide?: (world: World) => Plan;
  readonly outside?: (outside: Outside) => Outside;
}

/** The renting half of the controller, all of it, in a world of the simulation. */
export function controllerUnderTest(sabotage: Sabotage = {}): BuildController {
  return (given) => {
    const outside = sabotage.outside?.(given) ?? given;
    const logger = loggerOf(outside);
    const cluster = clusterOf(outside);
    const box: { fleet?: Fleet; renter?: Renter } = {};

    async function start(): Promise<void> {
      const fleet = await Fleet.open({
        folder: '/state',
        logger,
        nowMs: outside.clock.nowMs,
        fs: outside.disk,
      });
      const renter = new Renter({
        ...{ cluster, logger, fleet, metrics: NO_METRICS, workers: new BookOf(outside.workers) },
        ...{
          secret: outside.secret,
          controllerId: outside.controllerId,
          clock: outside.clock,
          mint: outside.mint,
        },
        ...{ provider: outside.provider, prober: outside.prober, control: outside.control },
        busConnected: outside.busConnected,
        decide: (world) => {
          const plan = (sabotage.decide ?? decide)(world);
          outside.onDecided(world, plan);
          return plan;
        },
        listingGapMs: outside.settings.listingGapMs,
        longestPauseMs: outside.settings.longestPauseMs,
        onPass: () => undefined,
        onDeposed: outside.onDeposed,
      });
      Object.assign(box, { fleet, renter });
      // An epoch is held only once NATS answers; passes begin before.
      void renter.start();
    }

    return {
      start,
      view: () =>
        box.fleet === undefined || box.renter === undefined ? null : viewOf(box.fleet, box.renter, cluster),
      onNews: () => box.renter?.requestPass(),
      closeDoor: () => box.renter?.closeDoor(),
      endAll: (drainTimeoutMs) => box.renter?.endAll(drainTimeoutMs),
    };
  };
}

function viewOf(fleet: Fleet, renter: Renter, { clusterId }: ClusterFile): ControllerView {
  const registry = fleet.registry.pods;
  const { listing } = renter.facts;
  return {
    registry,
    epoch: renter.guard.epoch(),
    listing,
    get liveUsdPerHour() {
      return liveCost({ registry, listing, clusterId }).usdPerHour;
    },
    spentUsd: spentUsd(fleet.money.state.ledger),
    tokenOf: (pod) => renter.tokens.tokenOf(pod),
  };
}

const summed = new WeakMap<Ledger, number>();

/** Asked after every event, and a ledger is never changed in place. */
function spentUsd(ledger: Ledger): number {
  const known = summed.get(ledger) ?? spent(ledger).microUsd / 1e6;
  summed.set(ledger, known);
  return known;
}

/** Reports are made when they are read. */
class BookOf extends WorkerBook {
  readonly #workers: Outside['workers'];

  constructor(workers: Outside['workers']) {
    super();
    this.#workers = workers;
  }

  override received(): ReceivedReport[] {
    return this.#workers.received();
  }

  override alive(): string[] {
    return this.#workers.alive();
  }
}

const DEFAULTS = loadConfig({ env: {}, cwd: '/' }).config;

function clusterOf({ cluster, settings }: Outside): ClusterFile {
  const [pool] = DEFAULTS.pools;
  if (pool === undefined) throw new Error('the default configuration has no pool');
  const { width, bootDeadlineMs, bootEstimateMs, idleTimeoutMs, rampPods } = POOL_TIMES;
  const { pageDeadlineMs, maxUsdPerHour } = POOL_TIMES;
  const config: Config = {
    ...DEFAULTS,
    control: { ...DEFAULTS.control, rampPods },
    limits: { ...DEFAULTS.limits, pageDeadlineMs, maxInflightPerPod: width },
    money: {
      ...DEFAULTS.money,
      ...{ usdPerHour: settings.usdPerHour, usdPerDay: settings.usdPerDay },
      ...{ hardUsdPerHour: settings.usdPerHour, hardUsdPerDay: settings.usdPerDay },
    },
    pools: settings.pools.map((one) => ({
      ...pool,
      ...one,
      ...{ width, bootDeadlineMs, bootEstimateMs, idleTimeoutMs },
      machine: { ...pool.machine, maxUsdPerHour, clouds: ['secure', 'community'] },
    })),
  };
  const nowhere = { nats: 0, controller: 0, backup: 0, workers: [] };
  return {
    ...{ v: 1, clusterId: cluster.clusterId, stateDir: '/state', config, ports: nowhere },
    ...{ natsUrl: '', natsCredentialsFile: '', secretFile: '', operatorTokenFile: '', nodeBinary: '' },
  };
}

const count = { inc: () => undefined };
const NO_METRICS = {
  ...{ rents: count, terminates: count, probes: count, listings: count },
  passSeconds: { observe: () => undefined },
};

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const UNTOLD = new Set<string>(['trace', 'debug']);

/** Writes to the trace of the run, or nowhere. */
function loggerOf({ log }: Outside): Logger {
  const line = (level: string) => (fields: unknown, event: string) => {
    if (log !== null && !UNTOLD.has(level)) log(event, fields);
  };
  return Object.fromEntries(LEVELS.map((level) => [level, line(level)])) as unknown as Logger;
}
