/** Hands out units in the order in which they were asked for. */
export interface UnitGate {
  /** Takes one at once if it fits. */
  tryTake(): boolean;
  /** Calls `enter` once a unit has been taken for it, perhaps at once; the result withdraws the wish. */
  request(enter: () => void): () => void;
  give(): void;
  taken(): number;
  /** More may fit now. */
  wake(): void;
}

export function createUnitGate(oneMoreFits: (taken: number) => boolean): UnitGate {
  // invariant: nobody waits while one more fits
  let taken = 0;
  const waiting = new Set<() => void>();

  function tryTake(): boolean {
    if (!oneMoreFits(taken)) return false;
    taken += 1;
    return true;
  }

  function wake(): void {
    for (const enter of waiting) {
      if (!tryTake()) return;
      waiting.delete(enter);
      enter();
    }
  }

  return {
    tryTake,
    request(enter) {
      // The same function may be given twice, and each wish is one of its own.
      const wish = () => enter();
      waiting.add(wish);
      wake();
      return () => waiting.delete(wish);
    },
    give() {
      taken -= 1;
      wake();
    },
    taken: () => taken,
    wake,
  };
}
