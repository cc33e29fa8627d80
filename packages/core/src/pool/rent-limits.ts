import type { PoolCap } from './caps.ts';
import { listingFreshness } from './listing.ts';
import type { PoolMemory } from './memory.ts';
import type { Pass } from './pass.ts';
import { isOurBoot, isStaying, type Pod } from './pod-state.ts';
import { ceilingUsdPerHour, type PoolSettings } from './pool-settings.ts';

const FAILED_BOOTS_TO_SUSPEND = 3;
const BARREN_MS = 900_000;
export const REFUSAL_WORDS = {
  account: 'the provider refuses the account: key, balance or spending limit',
  request: 'the provider does not accept what is asked for',
  other: 'the provider refused',
} as const;

export interface RentInput {
  readonly settings: PoolSettings;
  readonly memory: PoolMemory;
  readonly cap: PoolCap;
  readonly pass: Pass;
  /** why there is no offer to rent at; '' = there is one, or nothing is chosen */
  readonly offerWhy: string;
  /** the sentence why the fault of silent pods is taken to be ours; null = it is not */
  readonly faultOfOurs: string | null;
}

export interface RentLimit {
  readonly pods: number;
  readonly why: string;
}

type Row = (input: RentInput) => RentLimit | null;

/** Everything that may hold a rent back. The tightest row counts, the earlier one on a tie; null = the row allows all. */
const ROWS: readonly Row[] = [
  ({ pass: { world } }) => {
    const freshness = listingFreshness(world.listing, world.nowMs);
    if (freshness === 'unknown') return none('no complete listing of the account has come in yet');
    return freshness === 'stale' ? none('the last complete listing of the account is too old') : null;
  },
  ({ pass: { world } }) => (world.reports === null ? none('what the workers do is not known') : null),
  ({ faultOfOurs }) => (faultOfOurs === null ? null : none(`the fault looks like ours: ${faultOfOurs}`)),
  ({ settings, offerWhy }) =>
    settings.priceUsdPerHour === null && !settings.free ? none(offerWhy || 'no price is known') : null,
  ({ settings }) => {
    const { priceUsdPerHour } = settings;
    const ceiling = ceilingUsdPerHour(settings, settings.offer?.card ?? null);
    if (priceUsdPerHour === null || ceiling === null || priceUsdPerHour <= ceiling + 1e-9) return null;
    return none(`$${priceUsdPerHour}/h is above the ceiling of $${ceiling}/h`);
  },
  suspended,
  ({ memory, pass }) => {
    const leftMs = memory.refusedUntilMs - pass.world.nowMs;
    if (leftMs <= 0) return null;
    const why = REFUSAL_WORDS[memory.refusal?.fault ?? 'other'];
    return none(`${why} (${memory.refusals} in a row); next try in ${seconds(leftMs)}`);
  },
  barren,
  ({ cap }) => ({ pods: cap.room, why: cap.why }),
  firstOfItsKind,
  (input) => ({
    pods: Math.max(0, input.settings.rampPods - ourBoots(input).length),
    why: `${ourBoots(input).length} of at most ${input.settings.rampPods} boot at once`,
  }),
];

export function rentLimit(input: RentInput): RentLimit {
  let tightest: RentLimit = { pods: Number.POSITIVE_INFINITY, why: '' };
  for (const row of ROWS) {
    const limit = row(input);
    if (limit !== null && limit.pods < tightest.pods) tightest = limit;
  }
  return tightest;
}

function suspended(input: RentInput): RentLimit | null {
  const { memory, pass } = input;
  if (memory.failedBoots < FAILED_BOOTS_TO_SUSPEND) return null;
  const leftMs = memory.suspendedUntilMs - pass.world.nowMs;
  const why = `${memory.failedBoots} boots in a row failed`;
  if (leftMs > 0) return none(`${why}; one trial in ${seconds(leftMs)}`);
  return { pods: ourBoots(input).length === 0 ? 1 : 0, why: `${why}; one trial at a time` };
}

/** Billed for 15 min without a finished page while pages failed. */
function barren({ settings, memory, pass }: RentInput): RentLimit | null {
  const existing = [...pass.registry.values()].filter(
    (pod) => pod.pool === settings.name && pod.state !== 'terminated',
  );
  if (existing.length === 0) return null;
  const sinceMs = Math.max(memory.lastGoodPageMs, Math.min(...existing.map((pod) => pod.createdAtMs)));
  if (memory.lastFailedPageMs <= sinceMs || pass.world.nowMs - sinceMs < BARREN_MS) return null;
  return none('the pool has billed for 15 minutes, pages failed and none was finished');
}

/** Until a pod of this configuration has read a page, one at a time: a broken image is paid for once, not ten times. */
function firstOfItsKind(input: RentInput): RentLimit | null {
  const { settings, memory, pass } = input;
  if (memory.provenHashes.includes(settings.configHash)) return null;
  const first = [...pass.registry.values()].filter((pod) => isFirst(pod, settings));
  return {
    pods: first.length === 0 ? 1 : 0,
    why: 'no pod of this configuration has read a page yet, so they come one at a time',
  };
}

function isFirst(pod: Pod, settings: PoolSettings): boolean {
  const isOurs = pod.pool === settings.name && pod.configHash === settings.configHash && isStaying(pod);
  return isOurs && !(pod.state === 'booting' && pod.origin === 'adopted');
}

function ourBoots({ settings, pass }: RentInput): Pod[] {
  return [...pass.registry.values()].filter((pod) => pod.pool === settings.name && isOurBoot(pod));
}

function none(why: string): RentLimit {
  return { pods: 0, why };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
