import type { Refusal } from '../traffic/pool-suspension.ts';
import type { SetAside } from './set-aside.ts';

/** What the controller learnt about one pool and needs again at the next pass. All of it may be lost: it only delays. */
export interface PoolMemory {
  /** demand above capacity, summed over time, in page milliseconds: what waiting has cost so far */
  readonly debtPageMs: number;
  readonly debtAtMs: number;
  /** demand − capacity at the last pass */
  readonly deficit: number;
  /** `[i]` = since when at least i + 1 pods have been surplus */
  readonly surplusSinceMs: readonly number[];
  /** configurations of which a pod has read a page */
  readonly provenHashes: readonly string[];
  readonly failedBoots: number;
  /** the configuration whose boots failed: another one starts without blame; absent = not known */
  readonly failedHash?: string;
  /** no rent before that, and then one at a time; 0 = not suspended */
  readonly suspendedUntilMs: number;
  readonly refusals: number;
  readonly refusedUntilMs: number;
  /** offers that are not tried for a while, by `offerName` (DESIGN 5, Scaling) */
  readonly setAside: Readonly<Record<string, SetAside>>;
  /** pages per second of a busy pod, by card: measured here, so that cards can be weighed by the page */
  readonly cardRates: Readonly<Record<string, number>>;
  /** the provider's last word on a rent that it will not make for reasons of ours; null = none stands */
  readonly refusal: { readonly fault: 'account' | 'request'; readonly atMs: number } | null;
  readonly failedPages: number;
  readonly lastFailedPageMs: number;
  readonly lastGoodPageMs: number;
  /** pods ended by probe in the last minute */
  readonly endsByProbeMs: readonly number[];
  /** refused pages of the last minute */
  readonly pageRefusals: readonly Refusal[];
  /** the pool takes no pages before that; goes into every slice */
  readonly pagesSuspendedUntilMs: number;
  readonly pagesPauseMs: number;
}

/** Plain data, so that the shell may store it. */
export interface Memory {
  /** when the account was last swept for pods to adopt */
  readonly sweptAtMs: number | null;
  readonly pools: Readonly<Record<string, PoolMemory>>;
}

export const EMPTY_MEMORY: Memory = { sweptAtMs: null, pools: {} };

export const NEW_POOL_MEMORY: PoolMemory = {
  ...{ debtPageMs: 0, debtAtMs: 0, deficit: 0, surplusSinceMs: [] },
  ...{ provenHashes: [], failedBoots: 0, suspendedUntilMs: 0, refusals: 0, refusedUntilMs: 0 },
  ...{ setAside: {}, cardRates: {}, refusal: null },
  ...{ failedPages: 0, lastFailedPageMs: 0, lastGoodPageMs: 0, endsByProbeMs: [] },
  ...{ pageRefusals: [], pagesSuspendedUntilMs: 0, pagesPauseMs: 0 },
};

export function poolMemory(memory: Memory, pool: string): PoolMemory {
  // A journal of an older version lacks what was learnt since.
  return { ...NEW_POOL_MEMORY, ...memory.pools[pool] };
}
