/**
 * How far a document is split ahead of the pods: at most twice the pool's width of pages wait, so that a slot never idles
 * for a round trip and a 1,000-page document never floods the queue. A document without a page waiting may
 * always split one: each has its turn.
 */
export interface ReadAhead {
  /** Resolves when a document that has `own()` pages waiting may split another. */
  turn(pool: string, own: () => number, signal: AbortSignal): Promise<void>;
  /** The queue has become shorter or the width larger. */
  wake(): void;
}

export interface ReadAheadOptions {
  waiting(pool: string): number;
  widthOf(pool: string): number;
}

const AHEAD = 2;

export function createReadAhead(options: ReadAheadOptions): ReadAhead {
  const sleepers = new Set<() => void>();

  function mayGo(pool: string, own: () => number): boolean {
    return own() === 0 || options.waiting(pool) < AHEAD * options.widthOf(pool);
  }

  return {
    async turn(pool, own, signal) {
      while (!mayGo(pool, own)) {
        signal.throwIfAborted();
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            sleepers.delete(wake);
            signal.removeEventListener('abort', wake);
            resolve();
          };
          sleepers.add(wake);
          signal.addEventListener('abort', wake, { once: true });
        });
      }
      signal.throwIfAborted();
    },
    wake() {
      for (const sleeper of [...sleepers]) sleeper();
    },
  };
}
