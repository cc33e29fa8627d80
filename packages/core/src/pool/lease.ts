/** A client's request for capacity, as far as pods are counted. Time is absolute: a restart does not lengthen it. */
export interface Lease {
  readonly id: string;
  readonly pool: string;
  /** pods to keep ready; 0 = no floor */
  readonly pods: number;
  /** pods never to exceed; null = no cap of its own */
  readonly maxPods: number | null;
  /** cards it allows; without it, whatever the operator allows */
  readonly cards?: readonly string[];
  readonly expiresAtMs: number;
}

export interface Bounds {
  readonly floor: number;
  /** Infinity = none */
  readonly cap: number;
}

/**
 * What the leases of one pool ask together: the largest floor and the smallest cap. Floors are not added, because clients
 * share the pool's pods and demand rents what they cannot share.
 */
export function leaseBounds(leases: readonly Lease[], pool: string, nowMs: number): Bounds {
  const live = leases.filter((lease) => lease.pool === pool && lease.expiresAtMs > nowMs);
  return {
    floor: Math.max(0, ...live.map((lease) => lease.pods)),
    cap: Math.min(
      Number.POSITIVE_INFINITY,
      ...live.map((lease) => lease.maxPods ?? Number.POSITIVE_INFINITY),
    ),
  };
}
