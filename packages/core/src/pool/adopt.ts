import type { CompleteListing, ListedPod, PodMark } from './listing.ts';
import { isSamePod, listingFreshness } from './listing.ts';
import type { OfferKey } from './offer.ts';
import type { Adoption } from './plan.ts';
import { isExisting, type Pod } from './pod-state.ts';
import { transition } from './pod-transition.ts';
import type { PoolSettings } from './pool-settings.ts';
import type { Registry, World } from './world.ts';

/** Time for many boot probes of 15 s, so that an old pod is not ended the moment a new controller first looks at it. */
const ADOPTED_GRACE_MS = 180_000;
/** For a pod whose pool nobody knows any more, and with it the pool's own grace. */
export const UNKNOWN_POOL_GRACE_MS = 900_000;

interface MarkedPod extends ListedPod {
  readonly mark: PodMark;
}

export interface ListingMatch {
  /** by pod key, the listing's entry of a pod we hold */
  readonly entries: ReadonlyMap<string, ListedPod>;
  /** ours by their mark, and not in the registry */
  readonly unheld: readonly MarkedPod[];
  /** named like ours but without a mark: nobody can tell, so they are only reported */
  readonly unmarked: readonly ListedPod[];
}

const NO_MATCH: ListingMatch = { entries: new Map(), unheld: [], unmarked: [] };

/** Sets the listing against the registry. Entries of other clusters are not ours and appear nowhere. */
export function matchListing(
  listing: CompleteListing | null,
  registry: Registry,
  clusterId: string,
): ListingMatch {
  if (listing === null) return NO_MATCH;
  const entries = new Map<string, ListedPod>();
  const unheld: MarkedPod[] = [];
  const unmarked: ListedPod[] = [];
  const held = [...registry.values()].filter(isExisting);
  const byId = new Map(held.map((pod) => [pod.id, pod]));
  const renting = held.filter((pod) => pod.id === null);
  for (const entry of [...listing.pods].sort(byAge)) {
    if (entry.mark !== null && entry.mark.clusterId !== clusterId) continue;
    const pod = byId.get(entry.id) ?? renting.find((p) => !entries.has(p.key) && isSamePod(entry, p));
    if (pod !== undefined) entries.set(pod.key, entry);
    else if (isMarked(entry)) unheld.push(entry);
    else if (entry.name.startsWith(`${clusterId}-`)) unmarked.push(entry);
  }
  return { entries, unheld, unmarked };
}

/**
 * The pods of ours that the registry lacks: they count, and bill, until two complete listings in a row lack them, like any
 * other (L5).
 */
export function unheldPods({
  listing,
  registry,
  clusterId,
}: Pick<World, 'listing' | 'registry' | 'clusterId'>): MarkedPod[] {
  const { unheld } = matchListing(listing.newest, registry, clusterId);
  const shown = new Set(listing.newest?.pods.map(({ id }) => id));
  const missing = matchListing(listing.previous, registry, clusterId).unheld.filter(
    ({ id }) => !shown.has(id),
  );
  return [...unheld, ...missing];
}

export interface AdoptionDecision {
  readonly adoptions: readonly Adoption[];
  readonly alarms: readonly string[];
  readonly sweptAtMs: number | null;
}

type AdoptionInput = Pick<World, 'nowMs' | 'clusterId' | 'registry' | 'pools' | 'listing' | 'watch'> & {
  readonly sweptAtMs: number | null;
};

/**
 * At start and then once in the adoption interval: every pod of ours that a fresh, complete listing shows and the registry lacks
 * enters it, in one pass and whatever the floor says.
 */
export function decideAdoption(input: AdoptionInput): AdoptionDecision {
  const { listing, nowMs, sweptAtMs } = input;
  const nothing = { adoptions: [], alarms: [], sweptAtMs };
  if (listingFreshness(listing, nowMs) !== 'fresh') return nothing;
  if (sweptAtMs !== null && nowMs - sweptAtMs < input.watch.adoptionIntervalMs) return nothing;
  const match = matchListing(listing.newest, input.registry, input.clusterId);
  const adoptions: Adoption[] = [];
  const alarms = match.unmarked.map(
    (entry) => `pod ${entry.id} (${entry.name}) is named like ours but carries no mark; it is left alone`,
  );
  let registry = input.registry;
  for (const entry of match.unheld) {
    // A key that is just being forgotten is free at the next sweep; until then the pod counts by the listing.
    if (input.registry.get(entry.mark.podKey)?.state === 'terminated') continue;
    const adoption = adopt(entry, registry, input);
    const entered = enterRegistry(registry, adoption.pod, nowMs);
    registry = entered.registry;
    if (!entered.isNew) continue;
    adoptions.push(adoption);
    if (adoption.pod.state === 'draining') alarms.push(adoption.reason);
  }
  return { adoptions, alarms, sweptAtMs: nowMs };
}

function adopt(entry: MarkedPod, registry: Registry, input: AdoptionInput): Adoption {
  const { nowMs } = input;
  const holder = registry.get(entry.mark.podKey);
  const settings = input.pools.find((pool) => pool.name === entry.mark.pool);
  const isTwin = holder !== undefined;
  const base = adoptedBase(
    entry,
    isTwin ? `${entry.mark.podKey}/${entry.id}` : entry.mark.podKey,
    settings,
    input,
  );
  if (isTwin) {
    const reason = `pod ${entry.id} was bought twice under the key of ${holder.id ?? holder.name}; it is ended`;
    return {
      pod: { ...base, state: 'draining', sinceMs: nowMs, deadlineMs: nowMs, why: 'duplicate' },
      reason,
    };
  }
  if (settings === undefined) {
    const reason = `pod ${entry.id} belongs to the pool "${entry.mark.pool}", which is not configured; it is drained`;
    const deadlineMs = nowMs + UNKNOWN_POOL_GRACE_MS;
    return { pod: { ...base, state: 'draining', sinceMs: nowMs, deadlineMs, why: 'unknown-pool' }, reason };
  }
  const deadlineMs = Math.max(entry.createdAtMs + settings.bootDeadlineMs, nowMs + ADOPTED_GRACE_MS);
  const pod: Pod = {
    ...base,
    state: 'booting',
    sinceMs: nowMs,
    deadlineMs,
    origin: 'adopted',
    nextProbeMs: nowMs,
    asked: null,
  };
  return {
    pod,
    reason: `pod ${entry.id} of pool ${entry.mark.pool} carries our cluster id and is not in the registry; it is adopted`,
  };
}

function adoptedBase(
  entry: MarkedPod,
  key: string,
  settings: PoolSettings | undefined,
  input: AdoptionInput,
) {
  return {
    key,
    id: entry.id,
    name: entry.name,
    pool: entry.mark.pool,
    width: entry.mark.width,
    url: entry.url,
    priceUsdPerHour: entry.priceUsdPerHour,
    offer: offerOf(entry),
    createdAtMs: entry.createdAtMs,
    bootDeadlineMs: settings?.bootDeadlineMs ?? 0,
    configHash: entry.mark.configHash,
    shownAtMs: input.listing.newest?.startedAtMs ?? input.nowMs,
    answered: {},
    revision: 1,
  };
}

/**
 * The one way in: refuses a key or an id that the registry holds, and then only refreshes the held pod's address.
 * A terminated pod holds nothing.
 */
export function enterRegistry(
  registry: Registry,
  pod: Pod,
  nowMs: number,
): { isNew: boolean; registry: Registry } {
  const holder = [...registry.values()].find(
    (held) => isExisting(held) && (held.key === pod.key || (pod.id !== null && held.id === pod.id)),
  );
  if (holder === undefined) return { isNew: true, registry: new Map(registry).set(pod.key, pod) };
  const { url, priceUsdPerHour } = pod;
  const refreshed = transition(
    holder,
    { kind: 'seen', atMs: pod.shownAtMs ?? nowMs, url, priceUsdPerHour },
    nowMs,
  );
  if (holder.id !== pod.id || !refreshed.legal) return { isNew: false, registry };
  return { isNew: false, registry: new Map(registry).set(holder.key, refreshed.pod) };
}

function offerOf({ card, cloud, mark }: MarkedPod): OfferKey | null {
  return card === null || cloud === null ? null : { card, cloud, spot: mark.spot };
}

function isMarked(entry: ListedPod): entry is MarkedPod {
  return entry.mark !== null;
}

function byAge(a: ListedPod, b: ListedPod): number {
  return a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);
}
