import { spendRate } from '../cloud.ts';
import { bestStock, type GpuType, type StockCell, usd } from '../table/catalogue.ts';
import { compareVersions, freeCards } from '../table/place-pod.ts';
import type { PodRecord } from '../table/pod-record.ts';
import { graphqlEndpoint, graphqlVolume } from './collection-view.ts';
import { unauthorized } from './graphql-fault.ts';
import { graphqlPod } from './pod-view.ts';
import type { GraphqlContext } from './serve-graphql.ts';

export const USER_ID = 'user_fake';

interface PodFilter {
  readonly input?: { readonly podId: string };
}

export function createQueries(context: GraphqlContext) {
  const { service, call } = context;
  const { account, cloud } = service;
  return {
    pod({ input }: PodFilter) {
      const id = input?.podId ?? '';
      const { caller } = call;
      if (caller.kind !== 'account' && !(caller.kind === 'pod' && caller.podId === id)) throw unauthorized();
      const pod = cloud.find(id);
      return pod && graphqlPod(service, pod);
    },
    myself() {
      if (call.caller.kind !== 'account') throw unauthorized();
      return userOf(context);
    },
    gpuTypes: ({ input }: { input?: { id?: string; ids?: string[] } }) =>
      account.catalogue.gpus
        .filter(({ id }) => (input?.id ?? id) === id && (input?.ids ?? [id]).includes(id))
        .map((gpu) => gpuTypeOf(context, gpu)),
    dataCenters: () => account.catalogue.dataCenters.map(({ id }) => dataCenterOf(context, id)),
    countryCodes: () => [...new Set(account.catalogue.dataCenters.map(({ countryCode }) => countryCode))],
    cpuFlavors: () => [
      {
        id: 'cpu3c',
        displayName: 'Compute-Optimized',
        minVcpu: 2,
        maxVcpu: 32,
        ramMultiplier: 2,
        specifics: () => ({ stockStatus: 'High', securePrice: 0.06 }),
      },
    ],
    serverlessGpuPools: () =>
      [...Map.groupBy(account.catalogue.gpus, ({ pool }) => pool)].flatMap(([id, gpus]) =>
        id === null ? [] : [{ id, gpuTypeIds: gpus.map((gpu) => gpu.id) }],
      ),
  };
}

export function userOf({ service }: GraphqlContext) {
  const { account, cloud, clock } = service;
  const { knobs } = account;
  const listed = (pods: readonly PodRecord[]) => pods.map((pod) => graphqlPod(service, pod));
  return {
    id: USER_ID,
    email: 'fake@example.test',
    authId: 'auth_fake',
    pubKey: account.sshKeys.join('\n'),
    clientBalance: knobs.balanceUsd ?? 1_000,
    currentSpendPerHr: usd(spendRate(account.pods.values(), clock.nowMs())),
    spendLimit: knobs.spendLimitUsdPerHour,
    pods: () => withNulls(listed(cloud.visible()), knobs.nullEntries),
    pod({ podId, input }: { podId?: string; input?: { podId: string } }) {
      const pod = cloud.find(podId ?? input?.podId ?? '');
      return pod && graphqlPod(service, pod);
    },
    networkVolumes: () =>
      withNulls([...account.networkVolumes.values()].map(graphqlVolume), knobs.nullEntries),
    endpoints: () => withNulls([...account.endpoints.values()].map(graphqlEndpoint), knobs.nullEntries),
    containerRegistryCreds: () => withNulls([...account.registries.values()], knobs.nullEntries),
    podTemplates: () =>
      withNulls(
        [...account.templates.values()].map(({ image, serverless, ...rest }) => ({
          ...rest,
          imageName: image,
          isServerless: serverless,
        })),
        knobs.nullEntries,
      ),
  };
}

/** One null before each entry, and one at the end. */
function withNulls<T>(items: readonly T[], nullEntries: boolean): (T | null)[] {
  return nullEntries ? [...items.flatMap((item) => [null, item]), null] : [...items];
}

function gpuTypeOf(context: GraphqlContext, gpu: GpuType) {
  const cells = context.service.account.catalogue.cells.filter(({ gpuId }) => gpuId === gpu.id);
  const cheapest = (cloud: string, price: (cell: StockCell) => number | null): number | null => {
    const prices = cells.flatMap((cell) => (cell.cloud === cloud ? (price(cell) ?? []) : []));
    return prices.length === 0 ? null : usd(Math.min(...prices));
  };
  const onDemand = (cell: StockCell) => cell.microUsdPerHour;
  const spot = (cell: StockCell) => cell.spotMicroUsdPerHour;
  const { SECURE, COMMUNITY } = gpu.maxCount;
  return {
    id: gpu.id,
    displayName: gpu.displayName,
    manufacturer: gpu.manufacturer,
    memoryInGb: gpu.memoryGb,
    secureCloud: cells.some(({ cloud }) => cloud === 'SECURE'),
    communityCloud: cells.some(({ cloud }) => cloud === 'COMMUNITY'),
    securePrice: cheapest('SECURE', onDemand),
    communityPrice: cheapest('COMMUNITY', onDemand),
    secureSpotPrice: cheapest('SECURE', spot),
    communitySpotPrice: cheapest('COMMUNITY', spot),
    maxGpuCount: Math.max(SECURE, COMMUNITY),
    maxGpuCountSecureCloud: SECURE,
    maxGpuCountCommunityCloud: COMMUNITY,
    minPodGpuCount: 1,
    nodeGroupDatacenters: [...new Set(cells.map((cell) => cell.dataCenterId))].map((id) => ({
      id,
      name: id,
    })),
    lowestPrice: ({ input }: { input?: LowestPriceInput }) => lowestPriceOf(context, cells, input),
  };
}

interface LowestPriceInput {
  readonly gpuCount: number;
  readonly secureCloud?: boolean | null;
  readonly dataCenterId?: string | null;
  readonly countryCode?: string | null;
  readonly minCudaVersion?: string | null;
  readonly allowedCudaVersions?: readonly string[] | null;
}

const NO_PRICE = {
  minimumBidPrice: null,
  uninterruptablePrice: null,
  stockStatus: null,
  availableGpuCounts: [],
};

/** For the whole pod of `gpuCount` cards, unlike the prices of the type. */
function lowestPriceOf({ service }: GraphqlContext, all: readonly StockCell[], input?: LowestPriceInput) {
  const { catalogue, pods } = service.account;
  const count = input?.gpuCount ?? 1;
  const countryOf = (cell: StockCell): string | undefined =>
    catalogue.dataCenters.find(({ id }) => id === cell.dataCenterId)?.countryCode;
  const cells = all.filter(
    (cell) =>
      (input?.secureCloud == null || (cell.cloud === 'SECURE') === input.secureCloud) &&
      (input?.dataCenterId == null || cell.dataCenterId === input.dataCenterId) &&
      (input?.countryCode == null || countryOf(cell) === input.countryCode) &&
      (input?.minCudaVersion == null || compareVersions(cell.cudaVersion, input.minCudaVersion) >= 0) &&
      (!input?.allowedCudaVersions?.length || input.allowedCudaVersions.includes(cell.cudaVersion)),
  );
  const cheapest = cells.toSorted((a, b) => a.microUsdPerHour - b.microUsdPerHour)[0];
  if (!cheapest) return NO_PRICE;
  const spots = cells.flatMap(({ spotMicroUsdPerHour }) => spotMicroUsdPerHour ?? []);
  const mostFree = Math.max(...cells.map((cell) => freeCards(cell, pods.values())));
  return {
    minimumBidPrice: spots.length === 0 ? null : usd(Math.min(...spots) * count),
    uninterruptablePrice: usd(cheapest.microUsdPerHour * count),
    stockStatus: bestStock(cells) === 'None' ? null : bestStock(cells),
    availableGpuCounts: [1, 2, 4, 8].filter((n) => n <= mostFree),
    minVcpu: 9 * count,
    minMemory: 50 * count,
    compliance: null,
    countryCode: input?.countryCode ?? null,
    gpuTypeId: cheapest.gpuId,
    gpuTypeCudaVersions: [...Map.groupBy(cells, (cell) => cell.cudaVersion)].map(([cudaVersion, found]) => ({
      cudaVersion,
      availability: bestStock(found) === 'None' ? 'UNAVAILABLE' : 'AVAILABLE',
    })),
  };
}

function dataCenterOf({ service }: GraphqlContext, id: string) {
  const { cells, gpus } = service.account.catalogue;
  const here = Map.groupBy(
    cells.filter(({ dataCenterId }) => dataCenterId === id),
    ({ gpuId }) => gpuId,
  );
  return {
    id,
    name: id,
    location: id.slice(0, 2),
    listed: true,
    storageSupport: true,
    gpuAvailability: [...here].map(([gpuTypeId, found]) => ({
      gpuTypeId,
      displayName: gpus.find((gpu) => gpu.id === gpuTypeId)?.displayName ?? null,
      stockStatus: bestStock(found),
      available: bestStock(found) !== 'None',
    })),
  };
}
