import type { Report, Suspicion } from '@pagefleet/contract';

export const REPORT_FRESH_MS = 2_000;

export interface ReceivedReport {
  readonly report: Report;
  /** our clock, so that a worker's clock cannot make its report fresh */
  readonly receivedAtMs: number;
}

export interface MergedSuspicion extends Suspicion {
  readonly bootId: string;
}

export interface MergedPod {
  readonly inflight: number;
  /** width that workers hold on it */
  readonly heldWidth: number;
  readonly used: number;
  readonly good: number;
  readonly lastGoodMs: number;
  readonly oldestSlotMs: number;
  readonly pagesPerSecond: number;
  readonly suspects: readonly MergedSuspicion[];
}

export interface MergedDemand {
  readonly inflight: number;
  readonly waiting: number;
  readonly unsplit: number;
  readonly refused: number;
  readonly oldestWaitMs: number;
}

/** All workers' reports as one picture: the only one that scale, idle and teardown decisions read (R-005). */
export interface MergedReports {
  /** by the provider's pod id */
  readonly pods: ReadonlyMap<string, MergedPod>;
  readonly pools: ReadonlyMap<string, MergedDemand>;
  readonly fresh: readonly string[];
  /** silent for more than 2 s, or never heard in this epoch */
  readonly stale: readonly string[];
  /** there are workers and all are fresh. Without that nothing is idle: a stale worker is never idle */
  readonly complete: boolean;
}

export interface ReportContext {
  readonly nowMs: number;
  /** reports of another epoch are ignored */
  readonly epoch: number;
  /** incarnations that the rosters name and that have not exited; an exited one sends nothing any more */
  readonly alive: readonly string[];
}

const NO_POD: MergedPod = {
  ...{ inflight: 0, heldWidth: 0, used: 0, good: 0, lastGoodMs: 0, oldestSlotMs: 0, pagesPerSecond: 0 },
  suspects: [],
};
const NO_DEMAND: MergedDemand = { inflight: 0, waiting: 0, unsplit: 0, refused: 0, oldestWaitMs: 0 };

/**
 * Of a stale worker the pages in flight still count, because they may still run; its queue does not, because nobody
 * should rent for pages that may be lost. Of several reports of one worker the highest `seq` counts.
 */
export function mergeReports(received: readonly ReceivedReport[], context: ReportContext): MergedReports {
  const newest = newestPerWorker(received, context);
  const pods = new Map<string, MergedPod>();
  const pools = new Map<string, MergedDemand>();
  const fresh: string[] = [];
  const stale: string[] = [];
  for (const bootId of [...new Set(context.alive)].sort()) {
    const entry = newest.get(bootId);
    const isFresh = entry !== undefined && context.nowMs - entry.receivedAtMs <= REPORT_FRESH_MS;
    (isFresh ? fresh : stale).push(bootId);
    if (entry === undefined) continue;
    addPods(pods, entry.report);
    addDemand(pools, entry.report, isFresh);
  }
  return { pods, pools, fresh, stale, complete: fresh.length > 0 && stale.length === 0 };
}

function newestPerWorker(
  received: readonly ReceivedReport[],
  context: ReportContext,
): Map<string, ReceivedReport> {
  const newest = new Map<string, ReceivedReport>();
  for (const entry of received) {
    if (entry.report.epoch !== context.epoch) continue;
    const held = newest.get(entry.report.bootId);
    if (held === undefined || held.report.seq < entry.report.seq) newest.set(entry.report.bootId, entry);
  }
  return newest;
}

function addPods(pods: Map<string, MergedPod>, report: Report): void {
  for (const [id, pod] of Object.entries(report.pods)) {
    const sum = pods.get(id) ?? NO_POD;
    pods.set(id, {
      ...sum,
      inflight: sum.inflight + pod.inflight,
      used: sum.used + pod.used,
      good: sum.good + pod.good,
      lastGoodMs: Math.max(sum.lastGoodMs, pod.lastGoodMs),
      oldestSlotMs: Math.max(sum.oldestSlotMs, pod.oldestSlotMs),
      pagesPerSecond: sum.pagesPerSecond + pod.pagesPerSecond,
      suspects:
        pod.suspect === undefined
          ? sum.suspects
          : [...sum.suspects, { ...pod.suspect, bootId: report.bootId }],
    });
  }
  for (const [id, width] of Object.entries(report.held)) {
    const sum = pods.get(id) ?? NO_POD;
    pods.set(id, { ...sum, heldWidth: sum.heldWidth + width });
  }
}

function addDemand(pools: Map<string, MergedDemand>, report: Report, isFresh: boolean): void {
  for (const [name, demand] of Object.entries(report.pools)) {
    const sum = pools.get(name) ?? NO_DEMAND;
    const queue = isFresh ? demand : NO_DEMAND;
    pools.set(name, {
      inflight: sum.inflight + demand.inflight,
      waiting: sum.waiting + queue.waiting,
      unsplit: sum.unsplit + queue.unsplit,
      refused: sum.refused + queue.refused,
      oldestWaitMs: Math.max(sum.oldestWaitMs, queue.oldestWaitMs),
    });
  }
}
