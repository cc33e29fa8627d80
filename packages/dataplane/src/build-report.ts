import type { PoolDemand, Report, ReportPod } from '@pagefleet/contract';
import type { SlotBook } from '@pagefleet/core';
import type { RefusedPages } from './admit/refused-pages.ts';
import type { DemandBook } from './demand-book.ts';
import type { PodTable } from './forward/pod-table.ts';
import type { Metrics } from './metrics.ts';
import type { PoolDirectory } from './pool-directory.ts';
import type { PoolQueues } from './queue/pool-queues.ts';
import type { ByteBudget } from './read/byte-budget.ts';

export interface ReportSources {
  readonly bootId: string;
  readonly worker: number;
  readonly pods: PodTable;
  readonly slots: SlotBook;
  readonly pools: PoolDirectory;
  readonly queues: PoolQueues;
  readonly demand: DemandBook;
  readonly refused: RefusedPages;
  /** requests held at the door: work offered that is not in yet */
  held(): number;
  readonly budget: ByteBudget;
  readonly metrics: Metrics;
  loopDelayP99Ms(): number;
  nowMs(): number;
}

export interface ReportHead {
  readonly epoch: number;
  readonly ack: number;
  readonly seq: number;
}

/** A full snapshot of one worker, as the controller merges it into every decision. */
export function buildReport(sources: ReportSources, head: ReportHead): Report {
  const { pods, budget, metrics } = sources;
  return {
    v: 1,
    bootId: sources.bootId,
    worker: sources.worker,
    ...head,
    atMs: Date.now(),
    held: Object.fromEntries([...pods.all()].map((pod) => [pod.id, pod.width])),
    pods: reportPods(sources),
    pools: reportPools(sources),
    totals: {
      ...metrics.totals,
      bytesInMemory: budget.held('memory'),
      bytesSpooled: budget.held('spool'),
      loopDelayP99Ms: sources.loopDelayP99Ms(),
      rssBytes: process.memoryUsage.rss(),
    },
  };
}

/** Every pod of the slice, and every pod on which a page still runs although it has left the slice. */
function reportPods({ pods, slots, nowMs }: ReportSources): Record<string, ReportPod> {
  const now = nowMs();
  const ids = new Set([...pods.all()].map((pod) => pod.id).concat(...slots.podIds()));
  const reported: Record<string, ReportPod> = {};
  for (const id of ids) {
    const stats = pods.statsOf(id);
    const suspect = pods.find(id) ? pods.suspects.suspicion(id) : undefined;
    reported[id] = {
      inflight: slots.inflight(id),
      used: stats.used,
      good: stats.good,
      lastGoodMs: Math.round(stats.lastGoodMs),
      oldestSlotMs: Math.round(slots.oldestSlotMs(id, now)),
      pagesPerSecond: stats.rate.perSecond(now),
      ...(suspect === undefined ? {} : { suspect }),
    };
  }
  return reported;
}

/** What was refused or held at the door is known by its headers alone and counts for the first pool. */
function reportPools(sources: ReportSources): Record<string, PoolDemand> {
  const { pools, pods, slots, queues, demand, refused, nowMs } = sources;
  const now = nowMs();
  const inflight = new Map<string, number>();
  for (const pod of pods.all())
    inflight.set(pod.pool, (inflight.get(pod.pool) ?? 0) + slots.inflight(pod.id));
  const first = pools.poolOf(null);
  return Object.fromEntries(
    pools.names().map((name) => [
      name,
      {
        inflight: inflight.get(name) ?? 0,
        waiting: queues.waiting(name),
        unsplit: demand.unsplit(name),
        refused: name === first ? refused.count(now) + sources.held() : 0,
        oldestWaitMs: Math.round(queues.oldestWaitMs(name, now)),
      },
    ]),
  );
}
