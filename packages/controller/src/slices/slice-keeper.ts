import type { Config, Report, Roster, Slice } from '@pagefleet/contract';
import {
  type HandOverState,
  isExisting,
  learnReport,
  learnRoster,
  openHandOver,
  type Pod,
  planSlices,
  type Registry,
  type WorkerKnowledge,
} from '@pagefleet/core';
import type { Bus, Logger } from '@pagefleet/runtime';
import { isSliced, type SlicedPod, sliceFacts, slicePods, slicePools, workerLimits } from './slice-record.ts';
import { SliceWriter } from './slice-writer.ts';

export interface KeeperOptions {
  readonly bus: Bus;
  readonly config: Config;
  readonly epoch: number;
  readonly registry: () => Registry;
  readonly tokenOf: (pod: Pod) => string | null;
  /** until when a pool takes no pages; 0 = it takes them */
  readonly suspendedUntilMs: (pool: string) => number;
  /** names of the API keys that want no fallback of the pool */
  readonly fleetOnly: (pool: string) => readonly string[];
  /** `down` was asked for: workers take no new pages */
  readonly isClosing: () => boolean;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** a worker or a record has seen a higher epoch than ours */
  readonly onSuperseded: (epoch: number) => void;
}

/** A planning at least this often also finds what no message told: a worker that fell silent, a pool that is back. */
const IDLE_PLAN_MS = 250;
const SUPERSEDED_RETRY_MS = 1_000;

/**
 * Who may use which pod how wide, from the moment an epoch is held until it is lost. Opened only after the epoch was
 * raised, and with subscriptions of its own: a roster from before may lack a worker (DESIGN 6).
 */
export class SliceKeeper {
  readonly #options: KeeperOptions;
  readonly #writer: SliceWriter;
  readonly #rewrite = new Set<string>();
  /** what each worker was last told beside widths */
  readonly #told = new Map<string, string>();
  readonly #mentioned = new Map<string, ReadonlySet<string>>();
  /** ids of pods that the registry has held in this epoch: one that left it is proven gone, a stranger is not */
  readonly #held = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #state: HandOverState;
  #planned = false;
  #closed = false;
  #asking = false;

  constructor(options: KeeperOptions) {
    const { bus, config, epoch } = options;
    this.#options = options;
    this.#state = openHandOver(epoch, config.workers === 0 ? ['backup'] : ['workers', 'backup']);
    this.#writer = new SliceWriter({
      bucket: bus.bucket('slices'),
      logger: options.logger,
      onLost: (bootId) => {
        this.#rewrite.add(bootId);
        // Not at once: a put that failed for want of NATS would fail again without a pause.
        setTimeout(() => this.planSoon(), IDLE_PLAN_MS).unref();
      },
      onSuperseded: (epoch) => this.#onSuperseded(epoch),
    });
    this.#stops.push(
      bus.subscribe('roster', (_group, roster) => this.#takeRoster(roster)),
      bus.subscribe('report', (_bootId, report) => this.#takeReport(report)),
    );
    const timer = setInterval(() => this.planSoon(), IDLE_PLAN_MS);
    this.#stops.push(() => clearInterval(timer));
  }

  /** The rev a worker has to acknowledge to be up to date; null = it was told nothing yet. */
  newestRev(bootId: string): number | null {
    return this.#state.workers.get(bootId)?.written?.rev ?? null;
  }

  /** Plans once, after whatever else happens in this turn of the loop. */
  planSoon(): void {
    if (this.#planned || this.#closed) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      if (!this.#closed) this.#plan();
    });
  }

  close(): void {
    this.#closed = true;
    for (const stop of this.#stops) stop();
    this.#writer.close();
  }

  #takeRoster(roster: Roster): void {
    this.#state = learnRoster(this.#state, roster, this.#options.nowMs());
    this.planSoon();
  }

  #takeReport(report: Report): void {
    this.#state = learnReport(this.#state, report, this.#options.nowMs());
    if (this.#state.superseded) {
      this.#onSuperseded(report.epoch);
      return;
    }
    this.#mentioned.set(report.bootId, new Set(Object.keys(report.pods)));
    this.planSoon();
  }

  #plan(): void {
    const { registry, nowMs } = this.#options;
    for (const pod of registry().values()) if (pod.id !== null) this.#held.add(pod.id);
    const pods = [...registry().values()].filter(isSliced);
    for (const worker of this.#state.workers.values()) {
      if (worker.written !== undefined && this.#told.get(worker.bootId) !== this.#factsFor(worker, pods)) {
        this.#rewrite.add(worker.bootId);
      }
    }
    const plan = planSlices({
      state: this.#state,
      pods: pods.map(({ id, pool, width, state }) => ({ id, pool, width, usable: state === 'serving' })),
      nowMs: nowMs(),
      rewrite: this.#rewrite,
    });
    this.#state = plan.state;
    for (const { bootId, rev, widths } of plan.slices) {
      const slice = {
        ...this.#contentFor(bootId, widths, pods),
        v: 1,
        bootId,
        epoch: this.#options.epoch,
        rev,
      } as const;
      this.#rewrite.delete(bootId);
      this.#told.set(bootId, sliceFacts(slice));
      this.#writer.put(slice);
    }
    this.#sweep();
  }

  /** Once: whoever looks into it closes this keeper, or finds that nothing can be known yet and hears the next report. */
  #onSuperseded(epoch: number): void {
    if (this.#closed || this.#asking) return;
    this.#asking = true;
    setTimeout(() => {
      this.#asking = false;
    }, SUPERSEDED_RETRY_MS).unref();
    this.#options.onSuperseded(epoch);
  }

  #factsFor(worker: WorkerKnowledge, pods: readonly SlicedPod[]): string {
    return sliceFacts(this.#contentFor(worker.bootId, worker.written?.widths ?? new Map(), pods));
  }

  #contentFor(
    bootId: string,
    widths: ReadonlyMap<string, number>,
    pods: readonly SlicedPod[],
  ): Omit<Slice, 'v' | 'bootId' | 'epoch' | 'rev'> {
    const { config, tokenOf, isClosing } = this.#options;
    const mentioned = this.#mentioned.get(bootId) ?? new Set();
    const existing = new Set([...this.#options.registry().values()].filter(isExisting).map(({ id }) => id));
    const gone = [...mentioned].filter((id) => this.#held.has(id) && !existing.has(id)).sort();
    return {
      ...(gone.length > 0 ? { gone } : {}),
      pods: slicePods({ bootId, pods, widths, mentioned, tokenOf }),
      pools: slicePools(config, pods, this.#options),
      limits: workerLimits(config),
      ...(isClosing() ? { closing: true } : {}),
    };
  }

  /** Records of workers whose exit is proven; one that nobody knows is left until every group has been heard. */
  #sweep(): void {
    const { workers, groups, rosters } = this.#state;
    const isPopulationKnown = groups.every((group) => rosters.has(group));
    for (const bootId of this.#writer.keys()) {
      const worker = workers.get(bootId);
      const isGone = worker === undefined ? isPopulationKnown : worker.exited;
      if (!isGone) continue;
      this.#told.delete(bootId);
      this.#mentioned.delete(bootId);
      this.#rewrite.delete(bootId);
      void this.#writer.remove(bootId);
    }
  }
}
