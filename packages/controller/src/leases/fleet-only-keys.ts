import { type ClientLease, liveLease } from '@pagefleet/core';

/** Names of the API keys whose lease of the pool says `require: fleet`. */
export function fleetOnlyKeys(leases: readonly ClientLease[], pool: string, nowMs: number): string[] {
  const owners = leases
    .filter((lease) => lease.pool === pool && liveLease(lease, nowMs)?.narrowing?.requireFleet === true)
    .map(({ owner }) => owner);
  return [...new Set(owners)].sort();
}
