import type { Report } from '@pagefleet/contract';
import { isExisting, type ReceivedReport } from '@pagefleet/core';
import type { Prng } from '../hand-over/prng.ts';
import type { Cloud, CloudPod } from './cloud.ts';
import type { ControllerView } from './outside.ts';

interface Suspicion {
  readonly n: number;
  readonly kind: 'unreachable' | 'refusing';
  readonly atMs: number;
}

export interface WorkOptions {
  readonly cloud: Cloud;
  readonly prng: Prng;
  readonly wallMs: () => number;
  readonly canRead: (pod: CloudPod) => boolean;
  readonly canReach: (pod: CloudPod) => boolean;
  readonly pools: readonly string[];
}

/** Pages that a pod finishes between two looks at it, at most. */
const MOST_PAGES = 5;

/**
 * The clients' work and the worker that hands it out, as a controller hears of them. A report is made when it is read: it
 * is then as old as reports are, and nothing has to happen in between.
 */
export class Work {
  /** pages in the system, by pool */
  readonly demand = new Map<string, number>();
  isSilent = false;
  /** a second worker, which has nothing to do, and may fall silent too */
  isSecondSilent = false;
  readonly #options: WorkOptions;
  readonly #suspicions = new Map<string, Suspicion>();
  #bootN = 1;
  #suspicionN = 0;
  #seq = 0;
  #last: ReceivedReport[] = [];

  constructor(options: WorkOptions) {
    this.#options = options;
  }

  alive(): string[] {
    return [this.#bootId, 'second'];
  }

  /** The worker exits and another one takes its place; what the old one suspected goes with it. */
  replaceWorker(): void {
    this.#bootN += 1;
    this.#suspicions.clear();
    this.#last = this.#last.filter(({ report }) => report.bootId === 'second');
  }

  /** What has come in by now; without the bus, what had come in before. */
  received(view: ControllerView | null, isBusUp: boolean): ReceivedReport[] {
    if (!isBusUp || view === null || view.epoch === 0) return this.#last;
    const receivedAtMs = this.#options.wallMs();
    const before = new Map(this.#last.map((one) => [one.report.bootId, one]));
    if (!this.isSilent) before.set(this.#bootId, { report: this.#observe(view), receivedAtMs });
    if (!this.isSecondSilent)
      before.set('second', { report: this.#report('second', view.epoch, {}), receivedAtMs });
    this.#last = [...before.values()];
    return this.#last;
  }

  get #bootId(): string {
    return `worker${this.#bootN}`;
  }

  /** Pages are read on the pods that serve, and what the worker saw while it sent them becomes its report. */
  #observe(view: ControllerView): Report {
    const left = new Map(this.#options.pools.map((pool) => [pool, this.demand.get(pool) ?? 0]));
    const pods: Report['pods'] = {};
    for (const pod of view.registry.values()) {
      if (pod.id === null || !isExisting(pod)) continue;
      const waiting = left.get(pod.pool) ?? 0;
      const inflight = pod.state === 'serving' ? Math.min(waiting, pod.width) : 0;
      left.set(pod.pool, waiting - inflight);
      const real = this.#options.cloud.pods.get(pod.id);
      const isAnswered = (pod.answered[this.#bootId] ?? 0) >= (this.#suspicions.get(pod.id)?.n ?? 0);
      if (isAnswered) this.#suspicions.delete(pod.id);
      if (inflight > 0) this.#send(pod.id, real);
      const suspect = this.#suspicions.get(pod.id);
      pods[pod.id] = {
        ...{ inflight, used: real?.used ?? 0, good: real?.good ?? 0, lastGoodMs: real?.lastGoodMs ?? 0 },
        ...{ oldestSlotMs: 0, pagesPerSecond: inflight / 4 },
        ...(suspect === undefined ? {} : { suspect: { ...suspect, code: 'pod_failed' } }),
      };
    }
    return this.#report(this.#bootId, view.epoch, pods, left);
  }

  #send(id: string, real: CloudPod | undefined): void {
    const { prng, wallMs, canReach, canRead } = this.#options;
    const nowMs = wallMs();
    const isUp = real !== undefined && canReach(real);
    if (real !== undefined && isUp) real.used += 1;
    if (real !== undefined && isUp && canRead(real)) {
      real.good += 1 + prng.int(MOST_PAGES);
      real.used = Math.max(real.used, real.good);
      real.lastGoodMs = nowMs - 1;
      return;
    }
    if (this.#suspicions.has(id)) return;
    this.#suspicionN += 1;
    this.#suspicions.set(id, { n: this.#suspicionN, kind: isUp ? 'refusing' : 'unreachable', atMs: nowMs });
  }

  #report(bootId: string, epoch: number, pods: Report['pods'], left?: ReadonlyMap<string, number>): Report {
    this.#seq += 1;
    const pools: Report['pools'] = {};
    for (const [pool, waiting] of left ?? []) {
      const inflight = (this.demand.get(pool) ?? 0) - waiting;
      pools[pool] = { inflight, waiting, unsplit: 0, refused: 0, oldestWaitMs: 0 };
    }
    return {
      ...{ v: 1, bootId, worker: bootId === 'second' ? 1 : 0, epoch, ack: 1, seq: this.#seq },
      ...{ atMs: this.#options.wallMs(), held: {}, pods, pools, totals: NO_TOTALS },
    };
  }
}

const NO_TOTALS: Report['totals'] = {
  ...{ pagesOk: 0, pagesFailed: 0, pagesRefused: 0, pagesRetried: 0 },
  ...{ bytesInMemory: 0, bytesSpooled: 0, loopDelayP99Ms: 0, rssBytes: 0 },
};
