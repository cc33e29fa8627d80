/**
 * A fixed number of seats for documents. One that holds a seat without using it, because its pages are not wanted yet,
 * gives it up when others wait: a 1,000-page document never keeps the threads for its whole life.
 */
export interface Seats {
  /** Resolves when a seat is free for `holder`. */
  take(holder: SeatHolder, signal: AbortSignal): Promise<void>;
  give(holder: SeatHolder): void;
  /** A holder may be evicted now. */
  becameIdle(): void;
}

export interface SeatHolder {
  /** The seat is not being used at this moment. */
  isIdle(): boolean;
  /** Must call `give`. Only called while idle. */
  evict(): void;
}

export function createSeats(count: number): Seats {
  // invariant: holders ≤ count, in the order in which they sat down
  const holders = new Set<SeatHolder>();
  const waiting: { holder: SeatHolder; seat: () => void }[] = [];

  function settle(): void {
    while (waiting.length > 0) {
      if (holders.size >= count) {
        const idle = [...holders].find((holder) => holder.isIdle());
        if (!idle) return;
        // It gives its seat, which settles again from within.
        idle.evict();
        continue;
      }
      const next = waiting.shift();
      if (!next) return;
      holders.add(next.holder);
      next.seat();
    }
  }

  return {
    take(holder, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          const at = waiting.findIndex((entry) => entry.holder === holder);
          if (at >= 0) waiting.splice(at, 1);
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.push({
          holder,
          seat: () => {
            signal.removeEventListener('abort', onAbort);
            resolve();
          },
        });
        settle();
      });
    },
    give(holder) {
      holders.delete(holder);
      settle();
    },
    becameIdle: settle,
  };
}
