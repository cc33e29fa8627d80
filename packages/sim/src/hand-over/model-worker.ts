import type { Report } from '@pagefleet/contract';
import { type AdoptRules, adoptSlice, type Slot, SlotBook } from '@pagefleet/core';
import type { ModelSlice } from './model-bus.ts';

export type WorkerPhase = 'starting' | 'listening' | 'leaving' | 'orphan' | 'exited';

const TOTALS: Report['totals'] = {
  pagesOk: 0,
  pagesFailed: 0,
  pagesRefused: 0,
  pagesRetried: 0,
  bytesInMemory: 0,
  bytesSpooled: 0,
  loopDelayP99Ms: 0,
  rssBytes: 0,
};

/** A worker as eager as can be: every free slot of its slice is taken at once while pages wait. */
export class ModelWorker {
  readonly bootId: string;
  phase: WorkerPhase = 'starting';
  /** SIGSTOP: it does nothing, and its pages go on */
  isStopped = false;
  waiting = 0;
  #waitingSinceMs = 0;
  #seq = 0;
  #slice: ModelSlice;
  readonly #slots = new SlotBook();
  readonly #running: Slot[] = [];

  constructor(bootId: string, epoch: number) {
    this.bootId = bootId;
    this.#slice = { epoch, rev: 0, pods: [] };
  }

  get isAlive(): boolean {
    return this.phase !== 'exited';
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.#slots.total === 0;
  }

  inflight(podId: string): number {
    return this.#slots.inflight(podId);
  }

  get running(): number {
    return this.#slots.total;
  }

  /** Width in force that no page uses. */
  idleWidth(): number {
    let idle = 0;
    for (const { id, width } of this.#slice.pods) idle += Math.max(0, width - this.inflight(id));
    return idle;
  }

  offer(pages: number, nowMs: number): void {
    if (this.waiting === 0) this.#waitingSinceMs = nowMs;
    this.waiting += pages;
    this.#dispatch(nowMs);
  }

  /** True when the slice came into force. */
  adopt(slice: ModelSlice, rules: AdoptRules, nowMs: number): boolean {
    const next = adoptSlice(this.#slice, slice, rules);
    if (next === undefined) return false;
    this.#slice = next;
    this.#dispatch(nowMs);
    return true;
  }

  finish(index: number, nowMs: number): void {
    const [slot] = this.#running.splice(index, 1);
    if (slot) this.#slots.releaseSlot(slot);
    this.#dispatch(nowMs);
  }

  exit(): void {
    this.phase = 'exited';
    for (const slot of this.#running.splice(0)) this.#slots.releaseSlot(slot);
    this.waiting = 0;
  }

  report(nowMs: number): Report {
    this.#seq += 1;
    const pods: Report['pods'] = {};
    for (const id of this.#slots.podIds()) {
      const inflight = this.inflight(id);
      pods[id] = { inflight, used: 0, good: 0, lastGoodMs: 0, oldestSlotMs: 0, pagesPerSecond: 0 };
    }
    const oldestWaitMs = this.waiting === 0 ? 0 : nowMs - this.#waitingSinceMs;
    const demand = {
      inflight: this.#slots.total,
      waiting: this.waiting,
      unsplit: 0,
      refused: 0,
      oldestWaitMs,
    };
    return {
      v: 1,
      bootId: this.bootId,
      worker: 0,
      epoch: this.#slice.epoch,
      ack: this.#slice.rev,
      seq: this.#seq,
      atMs: nowMs,
      held: Object.fromEntries(this.#slice.pods.map(({ id, width }) => [id, width])),
      pods,
      pools: { ocr: demand },
      totals: TOTALS,
    };
  }

  #dispatch(nowMs: number): void {
    for (const { id, width } of this.#slice.pods) {
      while (this.waiting > 0) {
        const slot = this.#slots.takeSlot({ podId: id, pageId: 'page', width, nowMs });
        if (slot === undefined) break;
        this.#running.push(slot);
        this.waiting -= 1;
        this.#waitingSinceMs = nowMs;
      }
    }
  }
}
