import type { WorkerLimits } from '@pagefleet/contract';
import { SlotBook } from '@pagefleet/core';
import { clusterPaths } from '@pagefleet/runtime';
import { createAdmission } from './admit/admission.ts';
import { createRefusedPages } from './admit/refused-pages.ts';
import type { DataplaneOptions } from './create-dataplane.ts';
import { createDemandBook } from './demand-book.ts';
import { createForwarding } from './forward/create-forwarding.ts';
import { createLoopDelay } from './loop-delay.ts';
import { createMetrics, type LiveFigures } from './metrics.ts';
import { createPoolDirectory } from './pool-directory.ts';
import { createPoolQueues } from './queue/pool-queues.ts';
import { createReading } from './read/create-reading.ts';
import { createWorkerReaders } from './read-on-worker/worker-readers.ts';
import { observeBox, type Sizes, sizeWorker } from './sizes.ts';
import { createSliceState } from './slice-state.ts';
import { createSteadyClock } from './steady-clock.ts';

/** What one data plane is made of, wired together; `urgent` tells whoever listens for it. */
export type Parts = ReturnType<typeof createParts>;

export function createParts(options: DataplaneOptions, urgent: () => void) {
  const { config, logger } = options;
  const books = createBooks(options);
  const { nowMs, sizes, slice, slots, queues, pools } = books;
  const limits = (): PageLimits => limitsOf(slice.limits, sizes);
  const metrics = createMetrics(
    figuresOf(books, () => admission.held()),
    nowMs,
  );
  const workerReaders = createWorkerReaders({ config, metrics, logger, drawThreads: sizes.drawThreads });
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
    refusalCode: () => (pools.names().some(pools.mayHaveServingPods) ? 'queue_full' : 'no_capacity'),
  });
  return { ...books, metrics, workerReaders, forwarding, pods: forwarding.pods, admission };
}

/** What is only counted and kept. */
function createBooks({ config, bootId, stateDir, epoch }: DataplaneOptions) {
  const sizes = sizeWorker(config, observeBox());
  const { spoolDir } = clusterPaths(stateDir);
  return {
    nowMs: createSteadyClock(),
    sizes,
    slice: createSliceState(bootId, epoch),
    slots: new SlotBook(),
    queues: createPoolQueues(),
    demand: createDemandBook(),
    refused: createRefusedPages(),
    loopDelay: createLoopDelay(),
    pools: createPoolDirectory(config),
    reading: createReading({ ...sizes, config, bootId, spoolDir }),
  };
}

function figuresOf(books: ReturnType<typeof createBooks>, held: () => number): LiveFigures {
  const { slots, queues, pools, demand, reading, loopDelay } = books;
  return {
    inFlight: () => [...slots.podIds()].map((id) => [id, slots.inflight(id)] as const),
    waiting: () => pools.names().map((name) => [name, queues.waiting(name)] as const),
    unsplit: demand.pools,
    held,
    bytes: reading.budget.held,
    loopDelayP99Ms: loopDelay.p99Ms,
  };
}

type PageLimits = Pick<WorkerLimits, 'maxInFlight' | 'maxQueued'>;

/** The controller's division of the ceilings, or our own until it is heard; never more than the machine allows. */
function limitsOf(given: WorkerLimits | null, sizes: Sizes): PageLimits {
  if (given === null) return sizes;
  return {
    maxInFlight: Math.min(given.maxInFlight, sizes.maxInFlight),
    maxQueued: Math.min(given.maxQueued || given.maxInFlight, sizes.maxQueued),
  };
}
