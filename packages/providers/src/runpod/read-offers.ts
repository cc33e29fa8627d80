import type { Offer } from '@pagefleet/core';
import { GPU_COUNT } from './build-create.ts';
import { isRecord } from './read-complaint.ts';

type Entry = Readonly<Record<string, unknown>>;

const CLOUDS = ['secure', 'community'] as const;

/**
 * `lowestPrice` is for the whole pod, the prices beside it are per card (contract 2.8): mixing them has cost others four
 * times the price. A price of null or 0 is no offer.
 */
export const OFFERS_QUERY = `query Offers {
  gpuTypes {
    id memoryInGb secureCloud communityCloud securePrice communityPrice secureSpotPrice communitySpotPrice
    secure: lowestPrice(input: { gpuCount: ${GPU_COUNT}, secureCloud: true }) {
      minimumBidPrice uninterruptablePrice stockStatus
    }
    community: lowestPrice(input: { gpuCount: ${GPU_COUNT}, secureCloud: false }) {
      minimumBidPrice uninterruptablePrice stockStatus
    }
  }
}`;

export function readGraphqlOffers(gpuTypes: readonly unknown[]): Offer[] {
  return gpuTypes.filter(isRecord).flatMap((gpu) =>
    CLOUDS.flatMap((cloud) => {
      const lowest = isRecord(gpu[cloud]) ? gpu[cloud] : {};
      const about = { gpu, cloud, memory: gpu.memoryInGb, stock: lowest.stockStatus };
      const perCard = (price: unknown) => (typeof price === 'number' ? price * GPU_COUNT : null);
      return gpu[`${cloud}Cloud`] === false
        ? []
        : [
            ...offerOf(about, false, lowest.uninterruptablePrice ?? perCard(gpu[`${cloud}Price`])),
            ...offerOf(about, true, lowest.minimumBidPrice ?? perCard(gpu[`${cloud}SpotPrice`])),
          ];
    }),
  );
}

/** REST v2 answers the stock of one cloud at a time, has no spot, and prices per card. */
export function readRestOffers(gpus: readonly unknown[], cloud: Offer['cloud']): Offer[] {
  return gpus.filter(isRecord).flatMap((gpu) => {
    const prices = isRecord(gpu.price) ? gpu.price : {};
    const price = prices[cloud];
    const about = { gpu, cloud, memory: gpu.memory, stock: gpu.availability };
    return gpu[cloud] === false
      ? []
      : offerOf(about, false, typeof price === 'number' ? price * GPU_COUNT : null);
  });
}

function offerOf(
  { gpu, cloud, memory, stock }: { gpu: Entry; cloud: Offer['cloud']; memory: unknown; stock: unknown },
  spot: boolean,
  price: unknown,
): Offer[] {
  if (typeof gpu.id !== 'string' || gpu.id === '' || gpu.id === 'unknown') return [];
  if (typeof price !== 'number' || !Number.isFinite(price) || price <= 0) return [];
  return [
    {
      ...{ card: gpu.id, cloud, spot, priceUsdPerHour: price },
      memoryGb: typeof memory === 'number' ? memory : 0,
      stock: readStock(stock),
    },
  ];
}

function readStock(word: unknown): Offer['stock'] {
  const text = typeof word === 'string' ? word.toLowerCase() : '';
  return text === 'high' || text === 'medium' || text === 'low' || text === 'none' ? text : null;
}
