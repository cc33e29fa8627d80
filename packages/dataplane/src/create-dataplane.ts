import type { Config, Report, Slice, WorkerLimits } from '@pagefleet/contract';
import { SlotBook } from '@pagefleet/core';
import { clusterPaths, type Logger } from '@pagefleet/runtime';
import type { FastifyInstance } from 'fastify';
import { createAdmission } from './admit/admission.ts';
import { authenticate } from './admit/authenticate.ts';
import { createRefusedPages } from './admit/refused-pages.ts';
import { buildReport } from './build-report.ts';
import { createDemandBook } from './demand-book.ts';
import { createForwarding, type Forwarding } from './forward/create-forwarding.ts';
import { createLoopDelay } from './loop-delay.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createPoolDirectory } from './pool-directory.ts';
import { createPoolQueues } from './queue/pool-queues.ts';
import { createReading } from './read/create-reading.ts';
import type { PageLine } from './read-pages.ts';
import { registerRoutes } from './register-routes.ts';
import { createExchange } from './reply/exchange.ts';
import { createOcrService } from './serve-ocr.ts';
import { observeBox, type Sizes, sizeWorker } from './sizes.ts';
import { createSliceState } from './slice-state.ts';
import { createSteadyClock } from './steady-clock.ts';

export interface DataplaneOptions {
  readonly config: Config;
  readonly clusterId: string;
  /** incarnation of this worker */
  readonly bootId: string;
  /** worker number; -1 = the controller’s forwarding child */
  readonly worker: number;
  /** the controller's epoch when this worker was born, if it is known; slices of it may give width at once */
  readonly epoch?: number;
  readonly stateDir: string;
  readonly logger: Logger;
}

/** A page's life in one process: from nginx to a pod and back. It needs no bus; slices are put in, reports taken out. */
export interface Dataplane {
  /** False when it is old or another worker's: the slice in force stays. */
  applySlice(slice: Slice): boolean;
  report(): Report;
  registerRoutes(app: FastifyInstance): void;
  /** Called when the controller should hear at once: a new slice, a suspicion, the first waiting page. */
  onUrgent(callback: () => void): void;
  /** Answers ask for no further request on their connection from now on. */
  leave(): void;
  /** requests being answered */
  open(): number;
  readonly sizes: Sizes;
  close(): Promise<void>;
}

/** Trials, suspensions and old slots are looked at this often; everything else happens when its cause does. */
const TICK_MS = 250;

export function createDataplane(options: DataplaneOptions): Dataplane {
  const { config, bootId, worker } = options;
  const state = createState(options);
  const { sizes, slice, reading, forwarding, admission, metrics, loopDelay, pools } = state;
  const serve = createOcrService({
    config,
    door: {
      config,
      admission,
      refused: state.refused,
      pools,
      pods: forwarding.pods,
      metrics,
      nowMs: state.nowMs,
    },
    demand: state.demand,
    ...reading,
    line: createLine(bootId, forwarding, state),
    logger: options.logger,
  });
  const ticking = setInterval(forwarding.tick, TICK_MS);
  let open = 0;
  let seq = 0;
  let leaving = false;

  return {
    sizes,
    applySlice(given) {
      const next = slice.accept(given);
      if (!next) return false;
      pools.apply(next.pools);
      const { maxMemoryBytes, maxSpoolBytes } = next.limits;
      reading.budget.setLimits({ memory: Math.min(maxMemoryBytes, sizes.memoryBytes), spool: maxSpoolBytes });
      forwarding.pods.apply(next.pods, next.gone);
      forwarding.wake();
      admission.wake();
      state.urgent();
      return true;
    },
    report() {
      seq += 1;
      const report = buildReport(
        {
          ...state,
          bootId,
          worker,
          pods: forwarding.pods,
          budget: reading.budget,
          held: admission.held,
          loopDelayP99Ms: loopDelay.p99Ms,
        },
        { epoch: slice.epoch, ack: slice.ack, seq },
      );
      loopDelay.reset();
      return report;
    },
    registerRoutes(app) {
      registerRoutes(app, {
        metrics,
        authenticate: ({ headers }) => void authenticate(headers, config.apiKeys),
        health: () => ({
          status: leaving ? 'leaving' : 'ok',
          bootId,
          worker,
          epoch: slice.epoch,
          rev: slice.ack,
        }),
        serve(request, reply, kind) {
          open += 1;
          const exchange = createExchange(request.raw, reply.raw, {
            requestId: request.id,
            figures: admission.figures,
            leaving: () => leaving,
          });
          void serve(exchange, kind).finally(() => {
            open -= 1;
          });
        },
      });
    },
    onUrgent: (callback) => void state.listeners.push(callback),
    leave() {
      leaving = true;
    },
    open: () => open,
    async close() {
      clearInterval(ticking);
      loopDelay.stop();
      await Promise.all([forwarding.pods.close(), reading.close()]);
    },
  };
}

/** What the parts of one data plane share. */
function createState(options: DataplaneOptions) {
  const { config, bootId, logger } = options;
  const nowMs = createSteadyClock();
  const sizes = sizeWorker(config, observeBox());
  const slice = createSliceState(bootId, options.epoch);
  const listeners: (() => void)[] = [];
  const urgent = (): void => {
    for (const listener of listeners) listener();
  };
  const slots = new SlotBook();
  const queues = createPoolQueues();
  const demand = createDemandBook();
  const loopDelay = createLoopDelay();
  const pools = createPoolDirectory(config);
  const reading = createReading({
    ...sizes,
    config,
    bootId,
    spoolDir: clusterPaths(options.stateDir).spoolDir,
  });
  const limits = (): Pick<WorkerLimits, 'maxInFlight' | 'maxQueued'> => limitsOf(slice.limits, sizes);
  const metrics: Metrics = createMetrics(
    {
      inFlight: () => [...slots.podIds()].map((id) => [id, slots.inflight(id)] as const),
      waiting: () => pools.names().map((name) => [name, queues.waiting(name)] as const),
      unsplit: demand.pools,
      held: () => admission.held(),
      bytes: reading.budget.held,
      loopDelayP99Ms: loopDelay.p99Ms,
    },
    nowMs,
  );
  const forwarding = createForwarding({
    clusterId: options.clusterId,
    pools,
    metrics,
    logger,
    nowMs,
    slots,
    queues,
    podConnections: (width) => Math.max(sizes.perPod, width),
    settings: { ...config.limits, ...config.control },
    maxInFlight: () => limits().maxInFlight,
    bootDeadlineMs: (name) => config.pools.find((pool) => pool.name === name)?.bootDeadlineMs ?? 0,
    onUrgent: urgent,
  });
  const admission = createAdmission({
    limits,
    inFlight: () => slots.total,
    pagesPerSecond: metrics.pagesPerSecond,
    closing: () => slice.closing,
    refusalCode: () =>
      pools.names().some((name) => forwarding.pods.widthOf(name) > 0) ? 'queue_full' : 'no_capacity',
  });
  const refused = createRefusedPages();
  return {
    nowMs,
    sizes,
    slice,
    listeners,
    urgent,
    slots,
    queues,
    demand,
    loopDelay,
    pools,
    reading,
    metrics,
    forwarding,
    admission,
    refused,
  };
}

/** The controller's division of the ceilings, or our own until it is heard; never more than the machine allows. */
function limitsOf(given: WorkerLimits | null, sizes: Sizes): Pick<WorkerLimits, 'maxInFlight' | 'maxQueued'> {
  if (given === null) return sizes;
  return {
    maxInFlight: Math.min(given.maxInFlight, sizes.maxInFlight),
    maxQueued: Math.min(given.maxQueued || given.maxInFlight, sizes.maxQueued),
  };
}

function createLine(
  bootId: string,
  forwarding: Forwarding,
  { queues, nowMs }: Pick<ReturnType<typeof createState>, 'queues' | 'nowMs'>,
): PageLine {
  let pages = 0;
  return {
    readAhead: forwarding.readAhead,
    nextPageId() {
      pages += 1;
      return `${bootId}-${pages}`;
    },
    submit: forwarding.submit,
    withdraw: forwarding.withdraw,
    ownWaiting: (pool, key, document) => queues.of(pool).sizeOfDocument(key, document),
    nowMs,
  };
}
