import { json } from '../http/answer.ts';
import { bestStock, type DataCenter, type GpuType, type StockCell, usd } from '../table/catalogue.ts';
import { compareVersions } from '../table/place-pod.ts';
import { Problem } from './problem.ts';
import type { V2Request, V2Route } from './serve-v2.ts';

const CPU = {
  id: 'cpu3c',
  name: 'Compute-Optimized',
  group: 'Gen 3',
  vcpu: { min: 2, max: 32 },
  ramGbPerVcpu: 2,
  price: { securePerVcpu: 0.03, serverlessPerVcpu: 0.03 },
};

export const CATALOG_ROUTES: readonly V2Route[] = [
  {
    method: 'GET',
    pattern: '/catalog/gpus',
    handler: async (request) => {
      const gpus = request.service.account.catalogue.gpus.map((gpu) => gpuOf(request, gpu));
      // With a country, a card that is in none of its data centres drops out.
      const narrowed = request.query.has('countryCodes');
      return json(200, {
        gpus: narrowed ? gpus.filter(({ dataCenters }) => dataCenters !== undefined) : gpus,
      });
    },
  },
  {
    method: 'GET',
    pattern: '/catalog/gpus/{id}',
    handler: async (request) => {
      const gpu = request.service.account.catalogue.gpus.find(({ id }) => id === request.params.id);
      if (!gpu) throw new Problem(404, 'gpu not found');
      return json(200, gpuOf(request, gpu));
    },
  },
  { method: 'GET', pattern: '/catalog/cpus', handler: async () => json(200, { cpus: [CPU] }) },
  {
    method: 'GET',
    pattern: '/catalog/cpus/{id}',
    handler: async ({ params }) => {
      if (params.id !== CPU.id) throw new Problem(404, 'cpu not found');
      return json(200, CPU);
    },
  },
  { method: 'GET', pattern: '/catalog/templates', handler: async () => json(200, { templates: [] }) },
  {
    method: 'GET',
    pattern: '/catalog/datacenters',
    handler: async (request) => {
      const regions = listOf(request.query.get('regions'));
      const centers = request.service.account.catalogue.dataCenters.filter(
        ({ region }) => regions.length === 0 || regions.includes(region),
      );
      return json(200, { dataCenters: centers.map((center) => centerOf(request, center)) });
    },
  },
  {
    method: 'GET',
    pattern: '/catalog/datacenters/{id}',
    handler: async (request) => {
      const center = request.service.account.catalogue.dataCenters.find(({ id }) => id === request.params.id);
      if (!center) throw new Problem(404, 'data center not found');
      return json(200, centerOf(request, center));
    },
  },
];

function gpuOf({ service, query }: V2Request, gpu: GpuType): Record<string, unknown> {
  const { cells } = service.account.catalogue;
  const all = cells.filter(({ gpuId }) => gpuId === gpu.id);
  const cheapest = (cloud: string): number | null => {
    const prices = all.flatMap((cell) => (cell.cloud === cloud ? cell.microUsdPerHour : []));
    return prices.length === 0 ? null : usd(Math.min(...prices));
  };
  const { serverlessMicroUsdPerHour: serverless } = gpu;
  return {
    id: gpu.id,
    name: gpu.displayName,
    pool: gpu.pool,
    manufacturer: gpu.manufacturer.toUpperCase(),
    memory: gpu.memoryGb,
    secure: all.some(({ cloud }) => cloud === 'SECURE'),
    community: all.some(({ cloud }) => cloud === 'COMMUNITY'),
    price: {
      secure: cheapest('SECURE'),
      community: cheapest('COMMUNITY'),
      ...(serverless === null ? {} : { serverless: usd(serverless) }),
    },
    maxCount: { secure: gpu.maxCount.SECURE, community: gpu.maxCount.COMMUNITY },
    ...availabilityOf(all, query, service.account.catalogue.dataCenters),
    ...(service.account.knobs.unknownFields ? { architecture: 'unknown' } : {}),
  };
}

function availabilityOf(all: readonly StockCell[], query: URLSearchParams, centers: readonly DataCenter[]) {
  const included = listOf(query.get('include')).includes('AVAILABILITY');
  const product = query.get('product');
  if (included && product === null) throw new Problem(400, 'include=AVAILABILITY needs product');
  if (!included && product !== null) throw new Problem(400, 'product needs include=AVAILABILITY');
  if (!included) return {};
  const cuda = listOf(query.get('cudaVersions'));
  const min = query.get('minCudaVersion');
  if (cuda.length > 0 && min !== null)
    throw new Problem(400, 'cudaVersions and minCudaVersion exclude each other');
  const countries = listOf(query.get('countryCodes'));
  const cloud = query.get('cloud') ?? 'SECURE';
  const countryOf = (id: string): string => centers.find((center) => center.id === id)?.countryCode ?? '';
  const cells = all.filter(
    (cell) =>
      cell.cloud === cloud &&
      (countries.length === 0 || countries.includes(countryOf(cell.dataCenterId))) &&
      (cuda.length === 0 || cuda.includes(cell.cudaVersion)) &&
      (min === null || compareVersions(cell.cudaVersion, min) >= 0),
  );
  return {
    availability: wordOf(cells),
    ...(cells.length === 0 || wordOf(cells) === 'NONE'
      ? {}
      : {
          dataCenters: cells.map((cell) => ({
            id: cell.dataCenterId,
            name: cell.dataCenterId,
            availability: wordOf([cell]),
          })),
        }),
    cudaVersions: [...new Set(cells.map(({ cudaVersion }) => cudaVersion))].map((version) => ({
      version,
      available: wordOf(cells.filter(({ cudaVersion }) => cudaVersion === version)) !== 'NONE',
    })),
  };
}

function centerOf({ service, query }: V2Request, { id, region }: DataCenter): Record<string, unknown> {
  const { cells, gpus } = service.account.catalogue;
  const nameOf = (gpuId: string): string => gpus.find((gpu) => gpu.id === gpuId)?.displayName ?? gpuId;
  const here = Map.groupBy(
    cells.filter((cell) => cell.dataCenterId === id),
    ({ gpuId }) => gpuId,
  );
  return {
    id,
    name: id,
    region,
    globalNetwork: true,
    networkVolumeTypes: ['STANDARD'],
    compliance: [],
    ...(listOf(query.get('include')).includes('GPU_AVAILABILITY')
      ? {
          gpuAvailability: [...here].map(([gpuId, found]) => ({
            id: gpuId,
            name: nameOf(gpuId),
            availability: wordOf(found),
          })),
        }
      : {}),
  };
}

function wordOf(cells: readonly StockCell[]): string {
  return bestStock(cells).toUpperCase();
}

function listOf(text: string | null): string[] {
  return (text ?? '').split(',').filter((item) => item !== '');
}
