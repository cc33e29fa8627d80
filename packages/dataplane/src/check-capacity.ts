import { PagefleetError } from '@pagefleet/contract';
import type { PodTable } from './forward/pod-table.ts';
import type { PoolDirectory } from './pool-directory.ts';

export interface Capacity {
  readonly pools: PoolDirectory;
  readonly pods: PodTable;
  nowMs(): number;
}

const MAX_RETRY_AFTER_SECONDS = 30;

/**
 * The pool that reads a document asked of `pool`: that one, or the one it falls back to. Throws when waiting could not help:
 * the pool takes no pages for a while, or it has no pod and may rent none. A pool whose pods are booting
 * takes pages; they wait.
 */
export function choosePool(pool: string, requireFleet: boolean, capacity: Capacity): string {
  const refusal = refusalOf(pool, requireFleet, capacity);
  if (refusal === null) return pool;
  const fallback = requireFleet ? null : capacity.pools.fallbackOf(pool);
  if (fallback !== null && refusalOf(fallback, requireFleet, capacity) === null) return fallback;
  throw refusal;
}

/** The same for a pool that nothing can stand in for. */
export function checkPool(pool: string, capacity: Capacity): void {
  const refusal = refusalOf(pool, false, capacity);
  if (refusal !== null) throw refusal;
}

function refusalOf(
  pool: string,
  requireFleet: boolean,
  { pools, pods, nowMs }: Capacity,
): PagefleetError | null {
  const suspendedMs = pools.suspendedUntilMs(pool) - nowMs();
  if (suspendedMs > 0) {
    return new PagefleetError(
      'pool_suspected',
      `most pods of the pool ${pool} refuse pages; it takes none for a while`,
      {
        details: { retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, Math.ceil(suspendedMs / 1_000)) },
      },
    );
  }
  if (pods.ofPool(pool).length > 0 || !pools.cannotRent(pool)) return null;
  return new PagefleetError(
    requireFleet ? 'fleet_required' : 'no_capacity',
    `the pool ${pool} has no pod, and max_pods is 0: none will come`,
    { details: { retryAfterSeconds: MAX_RETRY_AFTER_SECONDS } },
  );
}
