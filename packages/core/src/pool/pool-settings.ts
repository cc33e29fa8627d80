import type { Offer, OfferPolicy } from './offer.ts';

/** What the operator decided about one pool, ready for use. Only `caps()` reads `minPods` and `maxPods`. */
export interface PoolSettings {
  readonly name: string;
  readonly models: readonly string[];
  /** of the engine's settings: pods of another hash run something else */
  readonly configHash: string;
  /** pages that may be in flight on one pod */
  readonly width: number;
  readonly minPods: number;
  /** 0 = renting is off */
  readonly maxPods: number;
  /** a pod that does not answer within this time is ended */
  readonly bootDeadlineMs: number;
  /** what a boot usually takes; the price of one more pod is this × its width of waiting */
  readonly bootEstimateMs: number;
  /** how long surplus pods are kept; without it as long as a boot takes */
  readonly idleTimeoutMs?: number;
  /** pods of this pool that may be renting or booting at once */
  readonly rampPods: number;
  /** a draining pod is ended after this time whatever still runs; above the page deadline */
  readonly graceMs: number;
  /** the provider charges nothing, so a missing price is no reason not to rent */
  readonly free: boolean;
  /** what may be rented; null = nothing is chosen, the provider has one kind of pod */
  readonly policy: OfferPolicy | null;
  /** the offer that one more pod would be rented at, chosen anew in every pass; null = none, or nothing to choose */
  readonly offer: Offer | null;
  /** a pod is replaced before this age; null = it may grow as old as it likes */
  readonly maxAgeMs: number | null;
  /** the quote for one more pod; null = without a price */
  readonly priceUsdPerHour: number | null;
  /** dearer pods are not rented, and ended when the bill turns out higher */
  readonly maxPriceUsdPerHour: number | null;
}

export function idleTimeoutMs(settings: PoolSettings): number {
  return settings.idleTimeoutMs ?? settings.bootEstimateMs;
}

/** The least of the pool's ceiling and the card's; null = neither is set. */
export function ceilingUsdPerHour(settings: PoolSettings, card: string | null): number | null {
  const ofCard = settings.policy?.cards.find((rule) => rule.card === card)?.maxUsdPerHour ?? null;
  if (ofCard === null || settings.maxPriceUsdPerHour === null) return ofCard ?? settings.maxPriceUsdPerHour;
  return Math.min(ofCard, settings.maxPriceUsdPerHour);
}
