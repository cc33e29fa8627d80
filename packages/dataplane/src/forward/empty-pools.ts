import type { PageJob } from '../queue/page-job.ts';
import type { PoolQueues } from '../queue/pool-queues.ts';
import type { PodTable } from './pod-table.ts';

export interface EmptyPoolsOptions {
  readonly pods: PodTable;
  readonly queues: PoolQueues;
  readonly nowMs: () => number;
  readonly settings: { readonly pageDeadlineMs: number };
  bootDeadlineMs(pool: string): number;
}

/** Pools that have pages waiting and no pod at all, and since when. */
export interface EmptyPools {
  /** Takes out the pages that have waited in vain for a pod for longer than a boot and a page take. */
  hopeless(): PageJob[];
}

export function createEmptyPools(options: EmptyPoolsOptions): EmptyPools {
  const { pods, queues, nowMs } = options;
  const emptySinceMs = new Map<string, number>();

  function isHopeless(pool: string): boolean {
    if (queues.of(pool).size === 0 || pods.ofPool(pool).length > 0) {
      emptySinceMs.delete(pool);
      return false;
    }
    const since = emptySinceMs.get(pool) ?? nowMs();
    emptySinceMs.set(pool, since);
    return nowMs() - since > options.bootDeadlineMs(pool) + options.settings.pageDeadlineMs;
  }

  return {
    hopeless() {
      const jobs: PageJob[] = [];
      for (const pool of queues.pools()) {
        if (!isHopeless(pool)) continue;
        const queue = queues.of(pool);
        for (let job = queue.shift(); job; job = queue.shift()) jobs.push(job);
        emptySinceMs.delete(pool);
      }
      return jobs;
    },
  };
}
