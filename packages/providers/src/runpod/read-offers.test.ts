import { describe, expect, it } from 'vitest';
import { readGraphqlOffers, readRestOffers } from './read-offers.ts';

const A40 = {
  ...{ id: 'NVIDIA A40', memoryInGb: 48, secureCloud: true, communityCloud: true },
  ...{ securePrice: 0.44, communityPrice: 0.35, secureSpotPrice: 0.24, communitySpotPrice: 0.2 },
  secure: { minimumBidPrice: 0.25, uninterruptablePrice: 0.45, stockStatus: 'High' },
  community: { minimumBidPrice: null, uninterruptablePrice: null, stockStatus: null },
};
const about = { card: 'NVIDIA A40', memoryGb: 48 };

describe('offers of the GraphQL catalogue', () => {
  it('have_the_lowest_price_of_the_pod_or_else_the_one_of_the_list', () => {
    expect(readGraphqlOffers([null, A40])).toEqual([
      { ...about, cloud: 'secure', spot: false, priceUsdPerHour: 0.45, stock: 'high' },
      { ...about, cloud: 'secure', spot: true, priceUsdPerHour: 0.25, stock: 'high' },
      { ...about, cloud: 'community', spot: false, priceUsdPerHour: 0.35, stock: null },
      { ...about, cloud: 'community', spot: true, priceUsdPerHour: 0.2, stock: null },
    ]);
  });

  it('are_none_without_a_price (R-052, contract 8, row 9)', () => {
    const none = { ...A40, secure: null, community: null, securePrice: 0.44, communityPrice: 0 };
    const offers = readGraphqlOffers([{ ...none, secureSpotPrice: null, communitySpotPrice: 0 }]);
    expect(offers.map(({ cloud, spot }) => [cloud, spot])).toEqual([['secure', false]]);
    const zero = { ...A40, secure: { ...A40.secure, minimumBidPrice: 0 }, communityCloud: false };
    expect(readGraphqlOffers([zero]).map(({ spot }) => spot)).toEqual([false]);
    expect(readGraphqlOffers([{ ...A40, id: null }, 'x', { id: 'X' }])).toEqual([]);
  });
});

describe('offers of the REST catalogue', () => {
  const gpu = {
    ...{ id: 'NVIDIA A40', memory: 48, secure: true, community: true, availability: 'LOW' },
    price: { secure: 0.44, community: null },
  };

  it('are_on_demand_only_and_of_the_cloud_that_was_asked_about', () => {
    expect(readRestOffers([gpu], 'secure')).toEqual([
      { ...about, cloud: 'secure', spot: false, priceUsdPerHour: 0.44, stock: 'low' },
    ]);
    expect(readRestOffers([gpu, { ...gpu, price: null }], 'community')).toEqual([]);
    expect(readRestOffers([{ ...gpu, secure: false }], 'secure')).toEqual([]);
    expect(readRestOffers([{ ...gpu, availability: 'PLENTY' }], 'secure')).toMatchObject([{ stock: null }]);
  });
});
