/** One unit of a pod's width, in use by one page. Identity is the object: it is given back by handing it in again. */
export interface Slot {
  readonly podId: string;
  readonly pageId: string;
  readonly takenAtMs: number;
}

export interface SlotRequest {
  readonly podId: string;
  readonly pageId: string;
  /** the width in force for this worker now; a number always, there is no "unlimited" */
  readonly width: number;
  readonly nowMs: number;
}

const NONE: ReadonlySet<Slot> = new Set();

/**
 * The one counted path by which a page gets onto a pod. Counts are derived from the sets, so no path can leave a
 * counter behind, and the width is looked at where the slot is taken, not before.
 */
export class SlotBook {
  /** a pod without slots has no entry; sets keep the order of taking */
  readonly #byPod = new Map<string, Set<Slot>>();
  #total = 0;

  /** The slot, or undefined when the pod has as many as the width in force. */
  takeSlot({ podId, pageId, width, nowMs }: SlotRequest): Slot | undefined {
    if (this.inflight(podId) >= width) return undefined;
    const slot: Slot = { podId, pageId, takenAtMs: nowMs };
    const slots = this.#byPod.get(podId);
    if (slots) slots.add(slot);
    else this.#byPod.set(podId, new Set([slot]));
    this.#total += 1;
    return slot;
  }

  /** True the first time; false for a slot that was given back or swept before, which changes nothing. */
  releaseSlot(slot: Slot): boolean {
    const slots = this.#byPod.get(slot.podId);
    if (!slots?.delete(slot)) return false;
    if (slots.size === 0) this.#byPod.delete(slot.podId);
    this.#total -= 1;
    return true;
  }

  /** Takes back the slots older than `maxAgeMs` and returns them to be logged. No timeout: their pages must be over. */
  sweepSlots(nowMs: number, maxAgeMs: number): Slot[] {
    const swept: Slot[] = [];
    for (const slots of this.#byPod.values()) {
      for (const slot of slots) if (nowMs - slot.takenAtMs > maxAgeMs) swept.push(slot);
    }
    for (const slot of swept) this.releaseSlot(slot);
    return swept;
  }

  inflight(podId: string): number {
    return (this.#byPod.get(podId) ?? NONE).size;
  }

  /** Age of the oldest slot of a pod; 0 when it has none. */
  oldestSlotMs(podId: string, nowMs: number): number {
    let oldest = 0;
    for (const slot of this.#byPod.get(podId) ?? NONE) oldest = Math.max(oldest, nowMs - slot.takenAtMs);
    return oldest;
  }

  get total(): number {
    return this.#total;
  }

  /** Pods with at least one slot. */
  podIds(): IterableIterator<string> {
    return this.#byPod.keys();
  }
}
