import type { OfferKey } from './offer.ts';
import type { RentAction } from './plan.ts';
import type { RentingPod } from './pod-state.ts';

/** The intent of one rent, as it goes into the journal before the paid call. `key` is random, `name` unique per attempt. */
export function openPod(
  rent: RentAction,
  identity: { key: string; name: string },
  nowMs: number,
): RentingPod {
  return {
    state: 'renting',
    key: identity.key,
    id: null,
    name: identity.name,
    pool: rent.pool,
    width: rent.width,
    url: null,
    priceUsdPerHour: rent.priceUsdPerHour,
    offer: rent.offer === null ? null : keyOf(rent.offer),
    createdAtMs: nowMs,
    bootDeadlineMs: rent.bootDeadlineMs,
    configHash: rent.configHash,
    shownAtMs: null,
    answered: {},
    revision: 1,
    sinceMs: nowMs,
    answer: 'uncalled',
    nextLookMs: nowMs,
  };
}

function keyOf({ card, cloud, spot }: OfferKey): OfferKey {
  return { card, cloud, spot };
}
