import type { Slice, WorkerLimits } from '@pagefleet/contract';

/** The slice in force. A lower epoch, or a lower revision of the same one, never replaces it. */
export interface SliceState {
  /** False when the slice is old, or another worker's. */
  accept(slice: Slice): boolean;
  readonly epoch: number;
  /** revision of the slice in force; 0 = none */
  readonly ack: number;
  readonly limits: WorkerLimits | null;
}

export function createSliceState(bootId: string): SliceState {
  let current: Slice | null = null;
  return {
    accept(slice) {
      if (slice.bootId !== bootId || !isNewer(slice, current)) return false;
      current = slice;
      return true;
    },
    get epoch() {
      return current?.epoch ?? 0;
    },
    get ack() {
      return current?.rev ?? 0;
    },
    get limits() {
      return current?.limits ?? null;
    },
  };
}

function isNewer(slice: Slice, current: Slice | null): boolean {
  if (current === null) return true;
  return slice.epoch > current.epoch || (slice.epoch === current.epoch && slice.rev > current.rev);
}
