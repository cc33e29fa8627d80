import type { Lease } from './lease.ts';
import type { Payer } from './ledger.ts';
import { isExisting, type Pod } from './pod-state.ts';
import type { Registry } from './world.ts';

/**
 * What one API key asked for in one pool, under one name. Its two halves, the pods to keep ready and what narrows the pool,
 * are taken and renewed together or apart, so each has its own time. Times are absolute: a restart lengthens none.
 */
export interface ClientLease {
  readonly id: string;
  /** name of the API key */
  readonly owner: string;
  /** the client's own word, which tells its leases of one pool apart; usually empty */
  readonly name: string;
  readonly pool: string;
  readonly floor: LeaseFloor | null;
  readonly narrowing: LeaseNarrowing | null;
}

export interface LeaseFloor {
  readonly pods: number;
  readonly expiresAtMs: number;
}

export interface LeaseNarrowing {
  /** pods never to exceed; null = no cap of its own */
  readonly cap: number | null;
  /** null = whatever the operator allows */
  readonly cards: readonly string[] | null;
  /** pages of the key are read by this pool or not at all */
  readonly requireFleet: boolean;
  readonly expiresAtMs: number;
}

const NOBODY: Payer = { lease: '', owner: '' };

/** Without its half that is over; null = both are. */
export function liveLease(lease: ClientLease, nowMs: number): ClientLease | null {
  const floor = lease.floor !== null && lease.floor.expiresAtMs > nowMs ? lease.floor : null;
  const narrowing = lease.narrowing !== null && lease.narrowing.expiresAtMs > nowMs ? lease.narrowing : null;
  if (floor === null && narrowing === null) return null;
  return { ...lease, floor, narrowing };
}

/** As decisions see them: one entry for each half. */
export function leasesOfWorld(book: readonly ClientLease[], nowMs: number): Lease[] {
  return book.flatMap((held): Lease[] => {
    const lease = liveLease(held, nowMs);
    if (lease === null) return [];
    const { id, pool, floor, narrowing } = lease;
    const halves: Lease[] = [];
    if (floor !== null)
      halves.push({ id, pool, pods: floor.pods, maxPods: null, expiresAtMs: floor.expiresAtMs });
    if (narrowing !== null) {
      const { cap, cards, expiresAtMs } = narrowing;
      const half = { id, pool, pods: 0, maxPods: cap, expiresAtMs };
      halves.push(cards === null ? half : { ...half, cards });
    }
    return halves;
  });
}

/** When the last of it is over. */
export function leaseExpiresAtMs({ floor, narrowing }: ClientLease): number {
  return Math.max(floor?.expiresAtMs ?? 0, narrowing?.expiresAtMs ?? 0);
}

/** Which lease a pod is kept for: in each pool the one with the largest floor, for as many pods as it asked, the oldest. */
export function payersOf(
  book: readonly ClientLease[],
  registry: Registry,
  nowMs: number,
): (pod: Pod) => Payer {
  const payers = new Map<string, Payer>();
  const leases = book.flatMap((lease) => liveLease(lease, nowMs) ?? []);
  for (const pool of new Set(leases.map((lease) => lease.pool))) {
    const [first] = leases
      .filter((lease) => lease.pool === pool && lease.floor !== null)
      .sort((a, b) => (b.floor?.pods ?? 0) - (a.floor?.pods ?? 0) || (a.id < b.id ? -1 : 1));
    if (first === undefined) continue;
    const pods = [...registry.values()].filter((pod) => pod.pool === pool && isExisting(pod)).sort(byAge);
    for (const pod of pods.slice(0, first.floor?.pods ?? 0))
      payers.set(pod.key, { lease: first.id, owner: first.owner });
  }
  return (pod) => payers.get(pod.key) ?? NOBODY;
}

function byAge(a: Pod, b: Pod): number {
  return a.createdAtMs - b.createdAtMs || (a.key < b.key ? -1 : 1);
}
