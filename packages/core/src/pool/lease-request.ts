import { type ClientLease, type LeaseNarrowing, liveLease } from './lease-book.ts';

const DEFAULT_TTL_MS = 900_000;
export const LONGEST_TTL_MS = 86_400_000;
export const LEASES_PER_OWNER = 16;
export const LEASES_IN_ALL = 256;

/** One call of a client. Absent = not said: that half of the lease stays as it is. */
export interface LeaseRequest {
  readonly owner: string;
  /** may renew and release the leases of others */
  readonly isOperator: boolean;
  /** the lease to renew; absent: the caller's own of that pool and name, or a new one */
  readonly lease?: string;
  readonly pool?: string;
  readonly name?: string;
  readonly pods?: number;
  /** null lifts it */
  readonly cap?: number | null;
  /** null lifts them */
  readonly cards?: readonly string[] | null;
  readonly requireFleet?: boolean;
  readonly ttlMs?: number;
}

export interface LeasePool {
  readonly name: string;
  /** the operator's; 0 = renting is off */
  readonly cap: number;
  /** cards that could be rented as far as known; null = not known, or nothing is chosen */
  readonly cards: readonly string[] | null;
  /** the provider has one kind of pod, so a list of cards means nothing */
  readonly hasCards: boolean;
}

export type LeaseDecision =
  /** `lease` replaces the one of the same id */
  | { readonly kind: 'granted'; readonly lease: ClientLease; readonly notes: readonly string[] }
  | {
      readonly kind: 'released';
      /** null = there was none, which is what was asked for */
      readonly lease: ClientLease | null;
      readonly pool: string;
      readonly notes: readonly string[];
    }
  /** no such lease, or somebody else's */
  | { readonly kind: 'unknown'; readonly lease: string }
  | { readonly kind: 'refused'; readonly param: string; readonly why: string }
  | { readonly kind: 'too-many'; readonly why: string };

interface LeaseInput {
  readonly book: readonly ClientLease[];
  readonly pools: readonly LeasePool[];
  readonly nowMs: number;
  /** of a lease that is new */
  readonly newId: string;
}

/**
 * Takes, renews or releases a lease. Whatever is larger than the operator allows is clamped, and the notes say so; a lease
 * never raises a cap and never adds a card (L2).
 */
export function decideLease(request: LeaseRequest, input: LeaseInput): LeaseDecision {
  const { nowMs } = input;
  const live = input.book.flatMap((lease) => liveLease(lease, nowMs) ?? []);
  const named = live.find(
    ({ id, owner }) => id === request.lease && (request.isOperator || owner === request.owner),
  );
  if (request.lease !== undefined && named === undefined) return { kind: 'unknown', lease: request.lease };
  const pool = poolOf(request, named, input.pools);
  if (typeof pool === 'string') return { kind: 'refused', param: 'pool', why: pool };
  const { name = '', owner } = request;
  const held =
    named ?? live.find((one) => one.owner === owner && one.pool === pool.name && one.name === name) ?? null;
  if (isRelease(request)) {
    const notes = held === null ? ['there was no lease to release'] : [];
    return { kind: 'released', lease: held, pool: pool.name, notes };
  }
  if (held === null) {
    if (!asksForAnything(request))
      return {
        kind: 'refused',
        param: 'pods',
        why: 'a lease needs at least pods, max_pods, gpu_types or require',
      };
    const full = isFull(live, owner);
    if (full !== null) return { kind: 'too-many', why: full };
  }
  const lease = held ?? { id: input.newId, owner, name, pool: pool.name, floor: null, narrowing: null };
  return change(lease, request, { pool, nowMs });
}

/** The lease that a call names, if the caller may release it. */
export function findLease(
  book: readonly ClientLease[],
  who: Pick<LeaseRequest, 'owner' | 'isOperator'> & { readonly lease: string },
  nowMs: number,
): ClientLease | null {
  const found = book.find(({ id, owner }) => id === who.lease && (who.isOperator || owner === who.owner));
  return found === undefined ? null : liveLease(found, nowMs);
}

function change(
  lease: ClientLease,
  request: LeaseRequest,
  { pool, nowMs }: { pool: LeasePool; nowMs: number },
): LeaseDecision {
  const notes: string[] = [];
  const expiresAtMs = nowMs + clampTtl(request.ttlMs ?? DEFAULT_TTL_MS, notes);
  const cards = clampCards(request.cards, pool, notes);
  if (typeof cards === 'string') return { kind: 'refused', param: 'gpu_types', why: cards };
  const { cards: _, ...rest } = request;
  const asked = cards === undefined ? rest : { ...rest, cards };
  const narrowing = narrow(lease.narrowing, asked, { pool, expiresAtMs, notes });
  const floor = floorOf(lease, request, { pool, narrowing, expiresAtMs, notes });
  if (floor === null && narrowing === null)
    return { kind: 'released', lease, pool: pool.name, notes: [...notes, 'nothing is left of the lease'] };
  return { kind: 'granted', lease: { ...lease, floor, narrowing }, notes };
}

interface Terms {
  readonly pool: LeasePool;
  readonly expiresAtMs: number;
  readonly notes: string[];
}

function floorOf(
  lease: ClientLease,
  request: LeaseRequest,
  { pool, narrowing, expiresAtMs, notes }: Terms & { narrowing: LeaseNarrowing | null },
): ClientLease['floor'] {
  const asked = request.pods ?? lease.floor?.pods ?? 0;
  const isMeant = request.pods !== undefined || !asksForAnything(request);
  const cap = Math.min(pool.cap, narrowing?.cap ?? Number.POSITIVE_INFINITY);
  if (asked > cap) {
    const whose = cap === pool.cap ? `the operator allows ${cap} pods` : `max_pods is ${cap}`;
    notes.push(`pods: ${asked} is more than allowed (${whose}); ${cap} are kept ready`);
  }
  const pods = Math.min(asked, cap);
  if (pods === 0) return null;
  return { pods, expiresAtMs: isMeant ? expiresAtMs : (lease.floor?.expiresAtMs ?? expiresAtMs) };
}

function narrow(before: LeaseNarrowing | null, request: LeaseRequest, terms: Terms): LeaseNarrowing | null {
  const { pool, expiresAtMs, notes } = terms;
  const isMeant = narrows(request) || !asksForAnything(request);
  const asked = request.cap === undefined ? (before?.cap ?? null) : request.cap;
  if (asked !== null && asked > pool.cap)
    notes.push(`max_pods: ${asked} is more than the operator allows; ${pool.cap} holds`);
  const cap = asked === null ? null : Math.min(asked, pool.cap);
  const cards = request.cards === undefined ? (before?.cards ?? null) : request.cards;
  const requireFleet = request.requireFleet ?? before?.requireFleet ?? false;
  if (cap === null && cards === null && !requireFleet) return null;
  return {
    cap,
    cards,
    requireFleet,
    expiresAtMs: isMeant ? expiresAtMs : (before?.expiresAtMs ?? expiresAtMs),
  };
}

function clampTtl(ttlMs: number, notes: string[]): number {
  if (ttlMs <= LONGEST_TTL_MS) return ttlMs;
  notes.push(`ttl_s: ${Math.round(ttlMs / 1_000)} is more than allowed; it is ${LONGEST_TTL_MS / 1_000}`);
  return LONGEST_TTL_MS;
}

/** The cards under the names that the operator and the catalogue use; a sentence when none of them may be rented. */
function clampCards(
  asked: LeaseRequest['cards'],
  pool: LeasePool,
  notes: string[],
): readonly string[] | null | undefined | string {
  if (asked === undefined || asked === null) return asked;
  if (!pool.hasCards) {
    notes.push('gpu_types: the pods of this pool have no card to choose; it changes nothing');
    return undefined;
  }
  if (pool.cards === null) return asked;
  const known = new Map(pool.cards.map((card) => [shortName(card), card]));
  const found = asked.map((card) => ({ card, as: known.get(shortName(card)) }));
  const refused = found.filter(({ as }) => as === undefined).map(({ card }) => card);
  const allowed = [...new Set(found.flatMap(({ as }) => as ?? []))];
  if (allowed.length === 0) return `none of these cards is allowed; allowed are ${pool.cards.join(', ')}`;
  if (refused.length > 0) notes.push(`gpu_types: ${refused.join(', ')} is not allowed and left out`);
  return allowed;
}

/** `NVIDIA A40` and `a40` are one card. */
function shortName(card: string): string {
  return card.toLowerCase().replace(/^(nvidia|amd)\s+/, '');
}

function poolOf(
  request: LeaseRequest,
  named: ClientLease | undefined,
  pools: readonly LeasePool[],
): LeasePool | string {
  const names = pools.map(({ name }) => name).join(', ');
  const wanted = request.pool ?? named?.pool ?? (pools.length === 1 ? pools[0]?.name : undefined);
  if (wanted === undefined) return `name one of the pools: ${names}`;
  if (named !== undefined && named.pool !== wanted) return `the lease is one of the pool ${named.pool}`;
  return pools.find(({ name }) => name === wanted) ?? `there is no pool ${wanted}; pools are ${names}`;
}

function isRelease(request: LeaseRequest): boolean {
  return request.pods === 0 && !narrows(request);
}

function asksForAnything(request: LeaseRequest): boolean {
  return request.pods !== undefined || narrows(request);
}

function narrows({ cap, cards, requireFleet }: LeaseRequest): boolean {
  return cap !== undefined || cards !== undefined || requireFleet !== undefined;
}

function isFull(live: readonly ClientLease[], owner: string): string | null {
  const own = live.filter((lease) => lease.owner === owner).length;
  if (own >= LEASES_PER_OWNER) return `this key holds ${own} leases already; release one or renew one`;
  return live.length >= LEASES_IN_ALL ? `${live.length} leases are held already` : null;
}
