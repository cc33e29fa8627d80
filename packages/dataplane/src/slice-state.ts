import type { Slice, WorkerLimits } from '@pagefleet/contract';
import { adoptSlice } from '@pagefleet/core';

/** The slice in force. A lower epoch, or a lower revision of the same one, never replaces it. */
export interface SliceState {
  /**
   * The slice as it is now in force, or null when it is old or another worker's. The first of an epoch never makes a width
   * grow: its controller does not know yet what others hold (DESIGN 6).
   */
  accept(slice: Slice): Slice | null;
  readonly epoch: number;
  /** revision of the slice in force; 0 = none */
  readonly ack: number;
  readonly limits: WorkerLimits | null;
  /** The cluster goes down: no new page is taken, those that are in are finished. */
  readonly closing: boolean;
}

/** `epoch`: the one in which nothing is held yet; slices of later epochs must first repeat what is held. */
export function createSliceState(bootId: string, epoch = 0): SliceState {
  let current: Slice | null = null;
  return {
    accept(slice) {
      const adopted =
        slice.bootId === bootId ? adoptSlice(current ?? { epoch, rev: 0, pods: [] }, slice) : undefined;
      if (adopted) current = adopted;
      return adopted ?? null;
    },
    get epoch() {
      return current?.epoch ?? epoch;
    },
    get ack() {
      return current?.rev ?? 0;
    },
    get limits() {
      return current?.limits ?? null;
    },
    get closing() {
      return current?.closing ?? false;
    },
  };
}
