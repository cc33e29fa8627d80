import { FairQueue } from '@pagefleet/core';
import type { PageJob } from './page-job.ts';

/** Admission is what bounds the pages of a worker; a queue alone is bounded by the largest setting there is. */
const MAX_WAITING = 131_072;

/** Pages that wait, pool by pool: in the queue, or pausing for a moment after a pod was full. */
export interface PoolQueues {
  of(pool: string): FairQueue<PageJob>;
  pools(): Iterable<string>;
  waiting(pool: string): number;
  /** Keeps a page waiting, out of the queue, and puts it back at the front when the pause is over. */
  pause(job: PageJob, ms: number, then: () => void): void;
  /** True when the page was waiting. */
  remove(job: PageJob): boolean;
  oldestWaitMs(pool: string, nowMs: number): number;
}

export function createPoolQueues(): PoolQueues {
  const queues = new Map<string, FairQueue<PageJob>>();
  const pausing = new Map<PageJob, NodeJS.Timeout>();

  function of(pool: string): FairQueue<PageJob> {
    const known = queues.get(pool);
    if (known) return known;
    const queue = new FairQueue<PageJob>(MAX_WAITING);
    queues.set(pool, queue);
    return queue;
  }

  function pausingIn(pool: string): PageJob[] {
    return pausing.size === 0 ? [] : [...pausing.keys()].filter((job) => job.pool === pool);
  }

  return {
    of,
    pools: () => queues.keys(),
    waiting: (pool) => of(pool).size + pausingIn(pool).length,
    pause(job, ms, then) {
      const timer = setTimeout(() => {
        pausing.delete(job);
        of(job.pool).putBack(job);
        then();
      }, ms);
      pausing.set(job, timer);
    },
    remove(job) {
      const timer = pausing.get(job);
      if (timer === undefined) return of(job.pool).remove(job);
      clearTimeout(timer);
      return pausing.delete(job);
    },
    oldestWaitMs(pool, nowMs) {
      const paused = pausingIn(pool).map((job) => nowMs - job.enqueuedAtMs);
      return Math.max(of(pool).oldestWaitMs(nowMs), ...paused);
    },
  };
}
