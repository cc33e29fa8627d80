import { type Config, PagefleetError } from '@pagefleet/contract';
import type { SlotBook } from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import type { Metrics } from '../metrics.ts';
import type { PoolDirectory } from '../pool-directory.ts';
import type { PageJob } from '../queue/page-job.ts';
import type { PoolQueues } from '../queue/pool-queues.ts';
import { createReadAhead, type ReadAhead } from '../queue/read-ahead.ts';
import { createDispatcher } from './dispatcher.ts';
import { createEmptyPools } from './empty-pools.ts';
import { createPodTable, type PodTable } from './pod-table.ts';
import { createSuspectProber } from './probe-suspects.ts';
import { PageRunner } from './run-page.ts';

export type ForwardSettings = Pick<Config['limits'], 'pageAttempts' | 'pageDeadlineMs' | 'connectTimeoutMs'> &
  Pick<Config['control'], 'probeIntervalMs' | 'probeTimeoutMs' | 'trialDelayMs'>;

export interface ForwardingOptions {
  readonly clusterId: string;
  readonly pools: PoolDirectory;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly slots: SlotBook;
  readonly queues: PoolQueues;
  /** whole width of a pod, for its connections; timeouts */
  podConnections(width: number): number;
  /** of the configuration in force; a change comes with a new process */
  readonly settings: ForwardSettings;
  maxInFlight(): number;
  /** longest boot of a pod of this pool */
  bootDeadlineMs(pool: string): number;
  /** Something happened that the controller must hear at once. */
  onUrgent(): void;
}

/** Pages from the queue to the pods and back, for all pools. */
export interface Forwarding {
  readonly pods: PodTable;
  readonly readAhead: ReadAhead;
  submit(job: PageJob): void;
  withdraw(job: PageJob): boolean;
  /** A slice was put in force. */
  wake(): void;
  /** Due trials, ended suspensions, old slots: a few times a second. */
  tick(): void;
}

/** Older slots are given back and logged; no page lives that long. */
const MAX_SLOT_AGE_MS = 900_000;

export function createForwarding(options: ForwardingOptions): Forwarding {
  const { slots, queues, logger, nowMs, metrics } = options;
  const pods = createPodTable({
    slots,
    nowMs,
    trialDelayMs: options.settings.trialDelayMs,
    clientLimits: (pod) => ({
      connections: options.podConnections(pod.width),
      connectTimeoutMs: options.settings.connectTimeoutMs,
    }),
  });
  const readAhead = createReadAhead({ waiting: queues.waiting, widthOf: pods.widthOf });
  const runner = new PageRunner({
    ...options,
    pods,
    onSuspicion: options.onUrgent,
    onRelease: wake,
    putBack(job, pauseMs) {
      if (pauseMs > 0) queues.pause(job, pauseMs, wake);
      else queues.of(job.pool).putBack(job);
      wake();
    },
  });
  const dispatcher = createDispatcher({
    pods,
    slots,
    queues,
    nowMs,
    maxInFlight: options.maxInFlight,
    suspendedUntilMs: options.pools.suspendedUntilMs,
    run: (placed) => void runner.run(placed),
  });
  const emptyPools = createEmptyPools({ ...options, pods });
  const prober = createSuspectProber({ ...options, pods, onRestored: wake });

  function wake(): void {
    dispatcher.wake();
    readAhead.wake();
  }

  return {
    pods,
    readAhead,
    submit(job) {
      const first = queues.waiting(job.pool) === 0;
      dispatcher.submit(job);
      if (first && queues.waiting(job.pool) > 0) options.onUrgent();
    },
    withdraw: queues.remove,
    wake,
    tick() {
      for (const slot of slots.sweepSlots(nowMs(), MAX_SLOT_AGE_MS)) {
        metrics.slotSwept();
        logger.error({ pod: slot.podId, page: slot.pageId }, 'slot_swept');
      }
      for (const job of emptyPools.hopeless()) {
        job.settle({ kind: 'failed', error: noPod(job.pool) });
      }
      prober.tick();
      wake();
    },
  };
}

function noPod(pool: string): PagefleetError {
  return new PagefleetError('no_capacity', `no pod of the pool ${pool} has come up in time`);
}
