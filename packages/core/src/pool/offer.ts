/** What a pod was rented as; refusals are remembered by it. */
export interface OfferKey {
  /** the provider's own id of the card: `NVIDIA A40` */
  readonly card: string;
  readonly cloud: 'secure' | 'community';
  readonly spot: boolean;
}

/** One kind of pod that may be had, as a catalogue lists it. A card without a price is no offer. */
export interface Offer extends OfferKey {
  readonly memoryGb: number;
  /** for the whole pod. Of spot: the floor of bids, in which a bid is made */
  readonly priceUsdPerHour: number;
  /** the provider's word. It orders candidates and proves nothing: a refused card may be listed as plentiful */
  readonly stock: 'high' | 'medium' | 'low' | 'none' | null;
}

/** The newest catalogue. A saved copy keeps the time at which it was fetched. */
export interface OfferBook {
  readonly atMs: number;
  readonly source: 'graphql' | 'rest' | 'saved';
  readonly offers: readonly Offer[];
}

/**
 * Why nothing was bought. `no-capacity`: this offer is not to be had now, another may be. `wait`: the provider may not be
 * asked now. `account`: balance, key or spending limit. `request`: what we ask for is not understood or not allowed.
 */
export type RefusalFault = 'no-capacity' | 'wait' | 'account' | 'request';

/** What an operator allows to be rented for a pool. */
export interface OfferPolicy {
  /** empty = any card */
  readonly cards: readonly { readonly card: string; readonly maxUsdPerHour: number | null }[];
  readonly minMemoryGb: number;
  readonly clouds: readonly OfferKey['cloud'][];
  readonly spot: 'never' | 'prefer' | 'only';
}

/** `NVIDIA A40/community/spot` */
export function offerName({ card, cloud, spot }: OfferKey): string {
  return `${card}/${cloud}/${spot ? 'spot' : 'on-demand'}`;
}
