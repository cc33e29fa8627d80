import type { Pod } from './pod-state.ts';

/** What a pod says of itself in its environment, which the listing returns. */
export interface PodMark {
  readonly clusterId: string;
  readonly podKey: string;
  readonly pool: string;
  readonly width: number;
  readonly configHash: string;
  readonly spot: boolean;
}

/** One entry of the provider's account. */
export interface ListedPod {
  readonly id: string;
  readonly name: string;
  /** `exited`: it exists, may bill, and runs nothing */
  readonly status: 'starting' | 'running' | 'exited';
  readonly url: string | null;
  readonly priceUsdPerHour: number | null;
  readonly createdAtMs: number;
  /** as which it was rented, as far as the account says */
  readonly card: string | null;
  readonly cloud: 'secure' | 'community' | null;
  /** null = not one of pagefleet's, or an API that does not return it */
  readonly mark: PodMark | null;
}

/** A listing that was followed to its end. One that failed or was cut short never becomes one. */
export interface CompleteListing {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly pods: readonly ListedPod[];
}

/** The two newest complete listings of this controller's life. Empty after every start: nothing is known then. */
export interface ListingHistory {
  readonly newest: CompleteListing | null;
  readonly previous: CompleteListing | null;
}

export const NO_LISTING: ListingHistory = { newest: null, previous: null };

/** Three sweeps of 60 s: a listing older than that says nothing about now. */
export const LISTING_FRESH_MS = 180_000;
/** A pod that no listing has ever shown stays, and counts, for this long. */
export const NEVER_SEEN_MS = 900_000;

export type Freshness = 'fresh' | 'stale' | 'unknown';

export function listingFreshness(history: ListingHistory, nowMs: number): Freshness {
  if (history.newest === null) return 'unknown';
  return nowMs - history.newest.endedAtMs <= LISTING_FRESH_MS ? 'fresh' : 'stale';
}

/** Takes a complete listing in. One that began before the newest ended is the same look twice and replaces it. */
export function recordListing(history: ListingHistory, listing: CompleteListing): ListingHistory {
  const { newest, previous } = history;
  if (newest === null) return { newest: listing, previous: null };
  if (listing.startedAtMs < newest.startedAtMs) return history;
  if (listing.startedAtMs < newest.endedAtMs) return { newest: listing, previous };
  return { newest: listing, previous: newest };
}

/**
 * Gone means absent from two complete listings in a row, the newer of them fresh, of a pod that some listing has shown.
 * One never seen is gone only when a listing made 15 minutes after its creation still lacks it (L5).
 */
export function isGone(pod: Pod, history: ListingHistory, nowMs: number): boolean {
  const { newest, previous } = history;
  if (newest === null || previous === null) return false;
  if (listingFreshness(history, nowMs) !== 'fresh') return false;
  if (lists(newest, pod) || lists(previous, pod)) return false;
  if (pod.shownAtMs !== null) return previous.startedAtMs >= pod.shownAtMs;
  return newest.startedAtMs - pod.createdAtMs >= NEVER_SEEN_MS;
}

export function lists(listing: CompleteListing, pod: Pod): boolean {
  return listing.pods.some((entry) => isSamePod(entry, pod));
}

/** By the provider's id once it is known, else by what we chose ourselves: the key, or the name where no key comes back. */
export function isSamePod(entry: ListedPod, pod: Pod): boolean {
  if (pod.id !== null) return entry.id === pod.id;
  if (entry.mark !== null) return entry.mark.podKey === pod.key;
  return entry.name === pod.name;
}
