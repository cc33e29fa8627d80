import type { OfferBook } from '@pagefleet/core';
import type { Prng } from '../hand-over/prng.ts';
import type { WorldSettings } from './outside.ts';

/** What every run's pools have in common. Short times, so that much happens in few events. */
export const POOL_TIMES = {
  ...{ width: 4, bootDeadlineMs: 80_000, bootEstimateMs: 12_000, idleTimeoutMs: 40_000 },
  ...{ rampPods: 3, pageDeadlineMs: 30_000, maxUsdPerHour: 1 },
} as const;

const POOLS = ['ocr', 'chat'] as const;

export function drawSettings(prng: Prng): WorldSettings {
  const pools = POOLS.slice(0, prng.chance(0.25) ? 2 : 1);
  return {
    isFree: prng.chance(0.2),
    pools: pools.map((name) => drawPool(name, prng)),
    usdPerHour: prng.pick([0.5, 1, 1.5, 3, 10]) ?? 10,
    usdPerDay: prng.pick([0.1, 5, 100, 100]) ?? 100,
    listingGapMs: prng.pick([2_000, 4_000, 8_000]) ?? 2_000,
    longestPauseMs: prng.pick([3_000, 10_000, 30_000]) ?? 10_000,
  };
}

export function drawPool(name: string, prng: Prng): WorldSettings['pools'][number] {
  const maxPods = prng.pick([0, 1, 1, 2, 3, 6]) ?? 1;
  return { name, maxPods, minPods: prng.chance(0.2) ? Math.min(1, maxPods) : 0 };
}

/** null: a free provider has one kind of pod. */
export function offersOf({ isFree }: WorldSettings): OfferBook | null {
  if (isFree) return null;
  const base = { memoryGb: 48, stock: 'high' } as const;
  return {
    atMs: 1_700_000_000_000,
    source: 'graphql',
    offers: [
      { ...base, card: 'NVIDIA A40', cloud: 'secure', spot: false, priceUsdPerHour: 0.4 },
      { ...base, card: 'NVIDIA A40', cloud: 'community', spot: false, priceUsdPerHour: 0.35 },
      { ...base, card: 'NVIDIA L40S', cloud: 'secure', spot: false, priceUsdPerHour: 0.86 },
    ],
  };
}
