import { PagefleetError } from '@pagefleet/contract';
import type { Offer, OfferBook } from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import { type ApiName, type Clock, READ_TIMEOUT_MS, type Send } from './api-call.ts';
import type { ApiMeters } from './api-meters.ts';
import { isRecord } from './read-complaint.ts';
import { failureOf, goodAnswer } from './read-failure.ts';
import { OFFERS_QUERY, readGraphqlOffers, readRestOffers } from './read-offers.ts';
import { readPages } from './read-pages.ts';
import { routesOf } from './route-call.ts';
import { loadOffers, saveOffers } from './saved-offers.ts';

export interface OfferContext {
  readonly send: Readonly<Record<ApiName, Send>>;
  readonly meters: ApiMeters;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly savedPath: string;
}

/** Prices and stock move in minutes; whoever decides may ask at every pass. */
const KEPT_MS = 300_000;
const AGAIN_AFTER_MS = 60_000;
/** Spot prices are GraphQL's alone: while only REST answers, the last ones are kept for so long. */
const SPOT_KEPT_MS = 3_600_000;
const WHAT = 'The catalogue cannot be read';

/** GraphQL, else REST v2, else the copy saved at the last success, with its own age. */
export function createOfferKeeper(context: OfferContext): () => Promise<OfferBook> {
  const { clock, logger, savedPath } = context;
  let newest: OfferBook | null = null;
  let spot: { readonly atMs: number; readonly offers: readonly Offer[] } | null = null;
  let nextFetchMs = Number.NEGATIVE_INFINITY;
  let fetching: Promise<OfferBook> | null = null;

  async function refresh(): Promise<OfferBook> {
    try {
      newest = withSpot(await fetchOffers(context));
      nextFetchMs = clock.nowMs() + KEPT_MS;
    } catch (cause) {
      nextFetchMs = clock.nowMs() + AGAIN_AFTER_MS;
      const copy = newest ?? (await loadOffers(savedPath));
      if (copy === null) throw cause;
      logger.warn({ err: cause, ageMs: clock.nowMs() - copy.atMs }, 'runpod_catalogue_from_copy');
      newest = { ...copy, source: 'saved' };
      return newest;
    }
    await saveOffers(savedPath, newest).catch((err: unknown) =>
      logger.warn({ err }, 'runpod_catalogue_not_saved'),
    );
    return newest;
  }

  function withSpot(book: OfferBook): OfferBook {
    if (book.source === 'graphql') {
      spot = { atMs: book.atMs, offers: book.offers.filter((offer) => offer.spot) };
      return book;
    }
    const isKept = spot !== null && book.atMs - spot.atMs <= SPOT_KEPT_MS;
    return isKept ? { ...book, offers: [...book.offers, ...(spot?.offers ?? [])] } : book;
  }

  return async () => {
    if (newest !== null && clock.nowMs() < nextFetchMs) return newest;
    if (newest === null && fetching === null && clock.nowMs() < nextFetchMs)
      throw new PagefleetError('provider_failed', `${WHAT}, and no copy of it was ever saved.`);
    fetching ??= refresh().finally(() => {
      fetching = null;
    });
    return fetching;
  };
}

async function fetchOffers(context: OfferContext): Promise<OfferBook> {
  const { meters, clock } = context;
  await meters.refresh();
  let failure: unknown = null;
  for (const api of routesOf('catalogue', meters.states())) {
    try {
      const offers = await (api === 'graphql' ? fetchGraphql(context) : fetchRest(context));
      // Nobody sells nothing: an empty catalogue would wipe out the copy.
      if (offers.length > 0) return { atMs: clock.nowMs(), source: api, offers };
      failure = new PagefleetError('provider_failed', `${WHAT}: the ${api} API offers no card at all.`);
    } catch (cause) {
      failure = cause;
    }
  }
  throw (
    failure ?? new PagefleetError('provider_failed', `${WHAT}: both APIs of RunPod may not be asked now.`)
  );
}

async function fetchGraphql({ send }: OfferContext): Promise<Offer[]> {
  const answer = await send.graphql({
    ...{ operation: 'catalogue', method: 'POST', path: '', timeoutMs: READ_TIMEOUT_MS },
    body: { query: OFFERS_QUERY },
  });
  const good = goodAnswer(answer, 'graphql');
  if (good === null) throw failureOf(answer, 'graphql', WHAT);
  const data = isRecord(good.body) && isRecord(good.body.data) ? good.body.data : {};
  if (!Array.isArray(data.gpuTypes))
    throw new PagefleetError('provider_failed', `${WHAT}: it has no list of cards.`);
  return readGraphqlOffers(data.gpuTypes);
}

async function fetchRest({ send, clock }: OfferContext): Promise<Offer[]> {
  const offers: Offer[] = [];
  for (const cloud of ['secure', 'community'] as const) {
    const query = { include: 'AVAILABILITY', product: 'POD', cloud: cloud.toUpperCase(), count: '1' };
    const list = { operation: 'catalogue', path: '/catalog/gpus', query, name: 'gpus' } as const;
    const pages = await readPages(send.rest, clock, list);
    if (pages.kind === 'failed') throw failureOf(pages.answer, 'rest', WHAT);
    offers.push(...readRestOffers(pages.items, cloud));
  }
  return offers;
}
