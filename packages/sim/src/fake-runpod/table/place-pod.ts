import type { Catalogue, StockCell } from './catalogue.ts';
import type { PodRecord, PodRequest } from './pod-record.ts';

export interface Placement {
  readonly cell: StockCell;
  readonly gpuId: string;
}

/** The first free place for one of the cards asked for, in the order in which clouds and cards were named; null = none. */
export function placePod(
  catalogue: Catalogue,
  pods: Iterable<PodRecord>,
  request: PodRequest,
): Placement | null {
  const live = [...pods].filter(({ state }) => state === 'running');
  for (const cloud of request.clouds) {
    for (const gpuId of request.gpuIds) {
      const cell = catalogue.cells.find(
        (cell) =>
          cell.gpuId === gpuId &&
          cell.cloud === cloud &&
          fits(catalogue, cell, request) &&
          freeCards(cell, live) >= request.gpuCount,
      );
      if (cell) return { cell, gpuId };
    }
  }
  return null;
}

/** What is really free, whatever the stock word says. */
export function freeCards(cell: StockCell, pods: Iterable<PodRecord>): number {
  let used = 0;
  for (const pod of pods) {
    const here =
      pod.gpuId === cell.gpuId && pod.cloud === cell.cloud && pod.dataCenterId === cell.dataCenterId;
    if (here && pod.state === 'running') used += pod.request.gpuCount;
  }
  return cell.supply - used;
}

function fits({ gpus, dataCenters }: Catalogue, cell: StockCell, request: PodRequest): boolean {
  const gpu = gpus.find(({ id }) => id === cell.gpuId);
  const center = dataCenters.find(({ id }) => id === cell.dataCenterId);
  if (!gpu || !center || request.gpuCount > gpu.maxCount[cell.cloud] || request.gpuCount < 1) return false;
  if (request.dataCenterIds.length > 0 && !request.dataCenterIds.includes(cell.dataCenterId)) return false;
  if (request.countryCode !== null && request.countryCode !== center.countryCode) return false;
  if (!hasCuda(cell.cudaVersion, request)) return false;
  const bid = request.bidMicroUsdPerGpu;
  return bid === null || (cell.spotMicroUsdPerHour !== null && bid >= cell.spotMicroUsdPerHour);
}

/** `allowedCudaVersions` is an exact set, `minCudaVersion` a floor. */
function hasCuda(
  version: string,
  { allowedCudaVersions: allowed, minCudaVersion: min }: PodRequest,
): boolean {
  if (allowed.length > 0 && !allowed.includes(version)) return false;
  return min === null || compareVersions(version, min) >= 0;
}

export function compareVersions(a: string, b: string): number {
  const [aMajor = 0, aMinor = 0] = a.split('.').map(Number);
  const [bMajor = 0, bMinor = 0] = b.split('.').map(Number);
  return aMajor - bMajor || aMinor - bMinor;
}
