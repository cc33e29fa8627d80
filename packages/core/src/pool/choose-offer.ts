import type { Lease } from './lease.ts';
import { type Memory, poolMemory } from './memory.ts';
import { type Offer, type OfferBook, offerName } from './offer.ts';
import { ceilingUsdPerHour, type PoolSettings } from './pool-settings.ts';
import type { World } from './world.ts';

const STOCK_RANK = { high: 0, medium: 1, low: 2, none: 3 } as const;
/** A catalogue older than that says nothing about what may be had now, and its prices are checked after the rent anyway. */
const BOOK_MAX_AGE_MS = 7 * 86_400_000;

export interface OfferChoice {
  /** best first; one is tried after the other until one is to be had */
  readonly ranked: readonly Offer[];
  /** why there is none; '' when there is one */
  readonly why: string;
}

type Choosing = Pick<World, 'nowMs' | 'offers' | 'leases' | 'memory'>;

/**
 * Every pool with the offer that one more pod of it would be rented at, and its price. Where nothing is chosen, as it is.
 */
export function pricedPools(pools: readonly PoolSettings[], world: Choosing): readonly PoolSettings[] {
  return pools.map((settings) => {
    if (settings.policy === null) return settings;
    const offer = chooseOffers(settings, world).ranked[0] ?? null;
    return { ...settings, offer, priceUsdPerHour: offer?.priceUsdPerHour ?? null };
  });
}

/** What may be rented for a pool, in the order in which it is tried. */
export function chooseOffers(settings: PoolSettings, world: Choosing): OfferChoice {
  const { policy } = settings;
  if (policy === null) return { ranked: [], why: '' };
  const book = world.offers;
  if (book === null) return none('no catalogue of cards and prices has come in yet');
  if (world.nowMs - book.atMs > BOOK_MAX_AGE_MS) return none('the saved catalogue is older than a week');
  const memory = poolMemory(world.memory, settings.name);
  const isAllowed = allowed(settings, world.leases, world.nowMs);
  const fitting = withoutDearSpot(book).filter(isAllowed);
  if (fitting.length === 0) return none('no card in the catalogue is allowed');
  const affordable = fitting.filter((offer) => isWithinCeiling(settings, offer));
  if (affordable.length === 0) return none('every card that is allowed is above its ceiling');
  const ready = affordable.filter((offer) => !isAside(offer, memory.setAside, world.nowMs));
  if (ready.length === 0) {
    const untilMs = Math.min(...affordable.map((offer) => memory.setAside[offerName(offer)]?.untilMs ?? 0));
    const seconds = Math.max(0, Math.round((untilMs - world.nowMs) / 1_000));
    return none(`all ${affordable.length} offers were refused or failed lately; next try in ${seconds} s`);
  }
  return { ranked: [...ready].sort(byWorth(settings, memory.cardRates)), why: '' };
}

/** Cards that the operator names and no catalogue knows: misspelt, most likely. */
export function unknownCards({ policy }: PoolSettings, { offers }: Pick<World, 'offers'>): string[] {
  if (policy === null || offers === null) return [];
  const known = new Set(offers.offers.map(({ card }) => card));
  return policy.cards.map(({ card }) => card).filter((card) => !known.has(card));
}

function none(why: string): OfferChoice {
  return { ranked: [], why };
}

/** Spot that costs as much as the same pod on demand is only a worse one. */
function withoutDearSpot({ offers }: OfferBook): readonly Offer[] {
  const onDemand = new Map(
    offers.filter((offer) => !offer.spot).map((offer) => [offerName(offer), offer.priceUsdPerHour]),
  );
  return offers.filter(
    (offer) =>
      !offer.spot ||
      offer.priceUsdPerHour <
        (onDemand.get(offerName({ ...offer, spot: false })) ?? Number.POSITIVE_INFINITY),
  );
}

/** The operator's list, narrowed by every lease's: a lease never adds a card. */
function allowed(settings: PoolSettings, leases: readonly Lease[], nowMs: number): (offer: Offer) => boolean {
  const { policy } = settings;
  const lists = leases
    .filter((lease) => lease.pool === settings.name && lease.expiresAtMs > nowMs)
    .flatMap((lease) => (lease.cards === undefined ? [] : [lease.cards]));
  return (offer) => {
    if (policy === null || offer.priceUsdPerHour <= 0) return false;
    if (policy.cards.length > 0 && !policy.cards.some((rule) => rule.card === offer.card)) return false;
    if (!lists.every((cards) => cards.includes(offer.card))) return false;
    if (offer.memoryGb < policy.minMemoryGb || !policy.clouds.includes(offer.cloud)) return false;
    return offer.spot ? policy.spot !== 'never' : policy.spot !== 'only';
  };
}

function isWithinCeiling(settings: PoolSettings, offer: Offer): boolean {
  const ceiling = ceilingUsdPerHour(settings, offer.card);
  return ceiling === null || offer.priceUsdPerHour <= ceiling + 1e-9;
}

function isAside(offer: Offer, book: Memory['pools'][string]['setAside'], nowMs: number): boolean {
  return (book[offerName(offer)]?.untilMs ?? 0) > nowMs;
}

/**
 * Sold out last, spot before on-demand where it is preferred, then dollars per page: the price over the pages per second
 * measured on the card, or over the mean of the measured ones where it has not been tried. Stock decides only a tie.
 */
function byWorth(settings: PoolSettings, rates: Readonly<Record<string, number>>) {
  const measured = Object.values(rates).filter((rate) => rate > 0);
  const usual = measured.length === 0 ? 1 : measured.reduce((sum, rate) => sum + rate, 0) / measured.length;
  const worth = (offer: Offer) => offer.priceUsdPerHour / (rates[offer.card] || usual);
  const stock = (offer: Offer) => STOCK_RANK[offer.stock ?? 'low'];
  const isSoldOut = (offer: Offer) => (offer.stock === 'none' ? 1 : 0);
  const isSecondChoice = (offer: Offer) => (settings.policy?.spot === 'prefer' && !offer.spot ? 1 : 0);
  return (a: Offer, b: Offer) =>
    isSecondChoice(a) - isSecondChoice(b) ||
    isSoldOut(a) - isSoldOut(b) ||
    worth(a) - worth(b) ||
    stock(a) - stock(b) ||
    (offerName(a) < offerName(b) ? -1 : 1);
}
