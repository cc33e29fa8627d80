export type BytePlace = 'memory' | 'spool';

/** Bytes of bodies and pages that this process may hold, in memory and on disk. */
export interface ByteBudget {
  /** False when the bytes do not fit; nothing is taken then. */
  tryTake(place: BytePlace, bytes: number): boolean;
  give(place: BytePlace, bytes: number): void;
  held(place: BytePlace): number;
  setLimits(limits: Readonly<Record<BytePlace, number>>): void;
}

export function createByteBudget(limits: Readonly<Record<BytePlace, number>>): ByteBudget {
  let limit = limits;
  // invariant: what is taken is given back exactly once, so both end at 0 when no request is open
  const held: Record<BytePlace, number> = { memory: 0, spool: 0 };
  return {
    tryTake(place, bytes) {
      if (held[place] + bytes > limit[place]) return false;
      held[place] += bytes;
      return true;
    },
    give(place, bytes) {
      held[place] -= bytes;
    },
    held: (place) => held[place],
    setLimits(next) {
      limit = next;
    },
  };
}
