import type { SlicePod } from '@pagefleet/contract';
import { type PickablePod, type PodHealth, type SlotBook, SuspectBook } from '@pagefleet/core';
import { createPodClient, type PodClient, type PodClientLimits } from './pod-client.ts';
import { createPodStats, type PodStats } from './pod-stats.ts';

/** A pod of the slice in force. Address and token belong together and are handed out together. */
export interface PodEntry extends PickablePod {
  readonly pool: string;
  readonly token: string;
  readonly url: string;
  readonly client: PodClient;
  readonly stats: PodStats;
}

export interface PodTable {
  readonly suspects: SuspectBook;
  /** Puts a slice in force; pods that left it finish what runs on them. */
  apply(pods: readonly SlicePod[], gone?: readonly string[]): void;
  /** proven by the controller: no reading runs on it any more */
  isGone(id: string): boolean;
  ofPool(pool: string): readonly PodEntry[];
  all(): Iterable<PodEntry>;
  find(id: string): PodEntry | undefined;
  statsOf(id: string): PodStats;
  /** pages that the serving pods of a pool may have in flight from here */
  widthOf(pool: string): number;
  close(): Promise<void>;
}

export interface PodTableOptions {
  readonly slots: SlotBook;
  readonly nowMs: () => number;
  /** after this long a pod that refused gets its first trial page */
  readonly trialDelayMs: number;
  /** connections per pod are never fewer than this pool's whole width, so that no page waits uncounted */
  clientLimits(pod: SlicePod): PodClientLimits;
}

/** Pods of which nothing has been heard for longer are forgotten; ids are never used again. */
const MAX_REMEMBERED = 4_096;

export function createPodTable(options: PodTableOptions): PodTable {
  const suspects = new SuspectBook(options.trialDelayMs);
  let entries = new Map<string, Entry>();
  let byPool = new Map<string, Entry[]>();
  const stats = new Map<string, PodStats>();
  let goneIds: ReadonlySet<string> = new Set();

  function statsOf(id: string): PodStats {
    const known = stats.get(id);
    if (known) return known;
    const fresh = createPodStats(options.nowMs());
    stats.set(id, fresh);
    return fresh;
  }

  function forgetOld(): void {
    for (const id of stats.keys()) {
      if (stats.size <= MAX_REMEMBERED) return;
      if (entries.has(id) || options.slots.inflight(id) > 0) continue;
      stats.delete(id);
      suspects.forget(id);
    }
  }

  function entryFor(pod: SlicePod): Entry {
    const before = entries.get(pod.id);
    const limits = options.clientLimits(pod);
    const reusable = before && isSameAddress(before, pod) && before.client.connections >= limits.connections;
    if (before && !reusable) retire(before);
    const client = reusable ? before.client : createPodClient(pod, limits);
    return new Entry({ pod, client, stats: statsOf(pod.id), table: { ...options, suspects } });
  }

  function apply(pods: readonly SlicePod[], gone: readonly string[] = []): void {
    goneIds = new Set(gone);
    const next = new Map<string, Entry>();
    const pools = new Map<string, Entry[]>();
    for (const pod of pods) {
      suspects.answer(pod.id, pod.answeredSuspect);
      const entry = entryFor(pod);
      next.set(pod.id, entry);
      pools.set(pod.pool, [...(pools.get(pod.pool) ?? []), entry]);
    }
    for (const [id, entry] of entries) if (!next.has(id)) retire(entry);
    entries = next;
    byPool = pools;
    forgetOld();
  }

  return {
    suspects,
    apply,
    ofPool: (pool) => byPool.get(pool) ?? [],
    all: () => entries.values(),
    find: (id) => entries.get(id),
    isGone: (id) => goneIds.has(id),
    statsOf,
    widthOf(pool) {
      let width = 0;
      for (const pod of byPool.get(pool) ?? []) if (pod.mode === 'serve') width += pod.width;
      return width;
    },
    async close() {
      await Promise.all([...entries.values()].map((entry) => entry.client.destroy()));
    },
  };
}

interface EntryOptions {
  readonly pod: SlicePod;
  readonly client: PodClient;
  readonly stats: PodStats;
  readonly table: { readonly slots: SlotBook; readonly suspects: SuspectBook; nowMs(): number };
}

/** Its counts are read where they are kept, so they are never stale. */
class Entry implements PodEntry {
  readonly #options: EntryOptions;
  readonly id: string;
  readonly pool: string;
  readonly url: string;
  readonly token: string;
  readonly width: number;
  readonly mode: SlicePod['mode'];
  readonly client: PodClient;
  readonly stats: PodStats;

  constructor(options: EntryOptions) {
    const { pod } = options;
    this.#options = options;
    this.id = pod.id;
    this.pool = pod.pool;
    this.url = pod.url;
    this.token = pod.token;
    this.width = pod.width;
    this.mode = pod.mode;
    this.client = options.client;
    this.stats = options.stats;
  }

  get inflight(): number {
    return this.#options.table.slots.inflight(this.id);
  }

  get health(): PodHealth {
    return this.#options.table.suspects.health(this.id, this.#options.table.nowMs());
  }
}

function isSameAddress(entry: Entry, pod: SlicePod): boolean {
  return entry.url === pod.url && entry.token === pod.token;
}

function retire(entry: Entry): void {
  // Destroyed meanwhile, because the process ends: nothing is left to close.
  entry.client.retire().catch(() => undefined);
}
