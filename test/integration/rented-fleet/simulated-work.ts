import type { Report } from '@pagefleet/contract';
import { WorkerBook } from '@pagefleet/controller/renting';
import { isExisting, type Pod, type ReceivedReport, type Registry } from '@pagefleet/core';

interface PodTally {
  used: number;
  good: number;
  lastGoodMs: number;
  /** pages read, as far as they are not whole ones yet */
  part: number;
  suspicion: { n: number; atMs: number } | null;
}

interface View {
  readonly epoch: number;
  readonly registry: Registry;
}

const BOOT_ID = 'simulated-worker';
/** A pod reads its whole width once in so long. */
const PAGE_MS = 4_000;

/**
 * Simulated: clients that keep so many pages in the system, and one worker that hands them to the pods which serve, as the
 * controller hears of both. A report is made when it is read. A pod that cannot be reached is suspected by its next page.
 */
export class SimulatedWork extends WorkerBook {
  /** pages that the clients keep in the system, by pool */
  readonly demand = new Map<string, () => number>();
  pagesRead = 0;
  readonly #canReach: (pod: Pod) => boolean;
  readonly #nowMs: () => number;
  readonly #tallies = new Map<string, PodTally>();
  #view: () => View | null = () => null;
  #seq = 0;
  #suspicions = 0;
  #lastMs: number;

  constructor(options: { canReach: (pod: Pod) => boolean; nowMs: () => number }) {
    super();
    this.#canReach = options.canReach;
    this.#nowMs = options.nowMs;
    this.#lastMs = options.nowMs();
  }

  /** the controller whose pods it uses */
  follow(view: () => View | null): void {
    this.#view = view;
  }

  override alive(): string[] {
    return [BOOT_ID];
  }

  override received(): ReceivedReport[] {
    const view = this.#view();
    if (view === null || view.epoch === 0) return [];
    return [{ report: this.#observe(view), receivedAtMs: this.#nowMs() }];
  }

  #observe({ registry, epoch }: View): Report {
    const nowMs = this.#nowMs();
    const sinceMs = this.#lastMs;
    this.#lastMs = nowMs;
    const waiting = new Map([...this.demand].map(([pool, pages]) => [pool, pages()]));
    const pods: Report['pods'] = {};
    const existing = [...registry.values()].filter(isExisting);
    const usable = new Map<string, number>();
    for (const { state, pool } of existing)
      if (state === 'serving') usable.set(pool, (usable.get(pool) ?? 0) + 1);
    for (const pod of existing) {
      if (pod.id === null) continue;
      const left = waiting.get(pod.pool) ?? 0;
      const among = usable.get(pod.pool) ?? 0;
      // Evenly, as workers pick the least loaded pod.
      const inflight = pod.state === 'serving' ? Math.min(Math.ceil(left / among), pod.width) : 0;
      if (pod.state === 'serving') usable.set(pod.pool, among - 1);
      waiting.set(pod.pool, left - inflight);
      pods[pod.id] = this.#use(pod, inflight, { sinceMs, nowMs });
    }
    this.#seq += 1;
    const pools: Report['pools'] = {};
    for (const [pool, left] of waiting) {
      const inflight = (this.demand.get(pool)?.() ?? 0) - left;
      pools[pool] = { inflight, waiting: left, unsplit: 0, refused: 0, oldestWaitMs: 0 };
    }
    return {
      ...{ v: 1, bootId: BOOT_ID, worker: 0, epoch, ack: 1, seq: this.#seq, atMs: nowMs },
      ...{ held: {}, pods, pools, totals: NO_TOTALS },
    };
  }

  #use(
    pod: Pod,
    inflight: number,
    { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
  ): Report['pods'][string] {
    const id = pod.id ?? '';
    const tally = this.#tallies.get(id) ?? { used: 0, good: 0, lastGoodMs: 0, part: 0, suspicion: null };
    this.#tallies.set(id, tally);
    if ((pod.answered[BOOT_ID] ?? 0) >= (tally.suspicion?.n ?? 0)) tally.suspicion = null;
    if (inflight > 0 && this.#canReach(pod)) {
      tally.part += (inflight * (nowMs - sinceMs)) / PAGE_MS;
      const whole = Math.floor(tally.part);
      tally.part -= whole;
      tally.good += whole;
      tally.used += whole;
      this.pagesRead += whole;
      if (whole > 0) tally.lastGoodMs = nowMs;
    } else if (inflight > 0 && tally.suspicion === null) {
      this.#suspicions += 1;
      tally.suspicion = { n: this.#suspicions, atMs: nowMs };
    }
    const { used, good, lastGoodMs, suspicion } = tally;
    return {
      ...{ inflight, used, good, lastGoodMs, oldestSlotMs: 0, pagesPerSecond: (inflight * 1_000) / PAGE_MS },
      ...(suspicion === null ? {} : { suspect: { ...suspicion, kind: 'unreachable', code: 'pod_failed' } }),
    };
  }
}

const NO_TOTALS: Report['totals'] = {
  ...{ pagesOk: 0, pagesFailed: 0, pagesRefused: 0, pagesRetried: 0 },
  ...{ bytesInMemory: 0, bytesSpooled: 0, loopDelayP99Ms: 0, rssBytes: 0 },
};
