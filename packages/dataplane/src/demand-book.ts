/** Pages known but not yet split off, pool by pool: demand that is not in the queue (DESIGN 7.3). */
export interface DemandBook {
  open(pool: string): DemandEntry;
  unsplit(pool: string): number;
  pools(): Iterable<readonly [pool: string, pages: number]>;
}

/** What one request still has to split. */
export interface DemandEntry {
  set(pool: string, pages: number): void;
  close(): void;
}

export function createDemandBook(): DemandBook {
  const byPool = new Map<string, number>();

  function add(pool: string, pages: number): void {
    const sum = (byPool.get(pool) ?? 0) + pages;
    if (sum === 0) byPool.delete(pool);
    else byPool.set(pool, sum);
  }

  return {
    open(pool) {
      // A document that is still coming in is one page at least.
      let current = { pool, pages: 1 };
      add(pool, 1);
      return {
        set(next, pages) {
          add(current.pool, -current.pages);
          current = { pool: next, pages };
          add(next, pages);
        },
        close() {
          // Later calls find nothing left to give back.
          add(current.pool, -current.pages);
          current = { pool: current.pool, pages: 0 };
        },
      };
    },
    unsplit: (pool) => byPool.get(pool) ?? 0,
    pools: () => byPool.entries(),
  };
}
