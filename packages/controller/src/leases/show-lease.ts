import type { LeaseStatus } from '@pagefleet/contract';
import { type ClientLease, leaseExpiresAtMs, liveLease } from '@pagefleet/core';

export function showLease(lease: ClientLease, nowMs: number): LeaseStatus {
  const { id, owner, name, pool, floor, narrowing } = lease;
  return {
    ...{ lease: id, owner, name, pool },
    pods: floor?.pods ?? 0,
    max_pods: narrowing?.cap ?? null,
    gpu_types: narrowing?.cards == null ? null : [...narrowing.cards],
    require: narrowing?.requireFleet === true ? 'fleet' : null,
    expires_in_s: secondsLeft(leaseExpiresAtMs(lease), nowMs),
    pods_expire_in_s: floor === null ? null : secondsLeft(floor.expiresAtMs, nowMs),
    max_pods_expire_in_s: narrowing === null ? null : secondsLeft(narrowing.expiresAtMs, nowMs),
  };
}

/** What the leases of one pool ask together, as its status shows it. */
export function showPoolLeases(
  leases: readonly ClientLease[],
  pool: string,
  nowMs: number,
): { client_pods: number | null; client_max_pods: number | null; client_lease_expires_in_s: number | null } {
  const live = leases.flatMap((held) => (held.pool === pool ? (liveLease(held, nowMs) ?? []) : []));
  const floors = live.flatMap((lease) => lease.floor ?? []);
  const caps = live.flatMap(({ narrowing }) =>
    narrowing === null || narrowing.cap === null
      ? []
      : [{ cap: narrowing.cap, expiresAtMs: narrowing.expiresAtMs }],
  );
  const pods = floors.length === 0 ? null : Math.max(...floors.map((floor) => floor.pods));
  const cap = caps.length === 0 ? null : Math.min(...caps.map((one) => one.cap));
  // Of each half, the time of the lease that makes it what it is; shown is the longer one.
  const times = [
    ...floors.filter((floor) => floor.pods === pods).map((floor) => floor.expiresAtMs),
    ...caps.filter((one) => one.cap === cap).map((one) => one.expiresAtMs),
  ];
  return {
    client_pods: pods,
    client_max_pods: cap,
    client_lease_expires_in_s: times.length === 0 ? null : secondsLeft(Math.max(...times), nowMs),
  };
}

function secondsLeft(atMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((atMs - nowMs) / 1_000));
}
