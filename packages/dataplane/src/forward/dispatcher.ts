import { pickPod, type Slot, type SlotBook } from '@pagefleet/core';
import type { PageJob } from '../queue/page-job.ts';
import type { PoolQueues } from '../queue/pool-queues.ts';
import type { PodEntry, PodTable } from './pod-table.ts';

export interface DispatcherOptions {
  readonly pods: PodTable;
  readonly slots: SlotBook;
  readonly queues: PoolQueues;
  readonly nowMs: () => number;
  maxInFlight(): number;
  /** until when the pool takes no pages; 0 = it takes them */
  suspendedUntilMs(pool: string): number;
  /** Takes over page and slot. */
  run(placed: PlacedPage): void;
}

export interface PlacedPage {
  readonly job: PageJob;
  readonly pod: PodEntry;
  readonly slot: Slot;
  readonly dispatchId: string;
  /** the page shows whether a refusing pod works again */
  readonly trial: boolean;
}

/** Brings waiting pages to free slots, the only place where a slot is taken. */
export interface Dispatcher {
  submit(job: PageJob): void;
  /** Something may fit now: a slice, a slot, a trial. */
  wake(): void;
}

/** Pages that cannot go to the pods that are free, because these failed them, are passed over; so many at most. */
const MAX_PASSED_OVER = 16;
const NOTHING: ReadonlySet<string> = new Set();

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { pods, slots, queues, nowMs } = options;
  let turn = 0;
  let running = false;
  let again = false;

  /** Runs to the end before it starts anew, so that no page is placed twice. */
  function wake(): void {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again) {
        again = false;
        for (const pool of queues.pools()) drain(pool);
      }
    } finally {
      running = false;
    }
  }

  function drain(pool: string): void {
    const queue = queues.of(pool);
    if (queue.size === 0 || options.suspendedUntilMs(pool) > nowMs()) return;
    const passedOver: PageJob[] = [];
    while (passedOver.length < MAX_PASSED_OVER && slots.total < options.maxInFlight()) {
      const candidates = pods.ofPool(pool);
      if (pickPod(candidates, { exclude: NOTHING, turn }).kind === 'wait') break;
      const job = queue.shift();
      if (!job) break;
      if (!place(job, candidates)) passedOver.push(job);
    }
    for (const job of passedOver.reverse()) queue.putBack(job);
  }

  function place(job: PageJob, candidates: readonly PodEntry[]): boolean {
    const pick = pickPod(candidates, { exclude: job.exclude, turn });
    const pod = pick.kind === 'pod' ? pods.find(pick.id) : undefined;
    if (pick.kind !== 'pod' || !pod) return false;
    const dispatchId = `${job.id}-${job.dispatches + 1}`;
    const slot = slots.takeSlot({ podId: pod.id, pageId: dispatchId, width: pod.width, nowMs: nowMs() });
    if (!slot) return false;
    turn += 1;
    job.dispatches += 1;
    if (pick.trial) pods.suspects.startTrial(pod.id);
    options.run({ job, pod, slot, dispatchId, trial: pick.trial });
    return true;
  }

  return {
    submit(job) {
      queues.of(job.pool).push(job);
      wake();
    },
    wake,
  };
}
