export type Cloud = 'SECURE' | 'COMMUNITY';
export type StockWord = 'High' | 'Medium' | 'Low' | 'None';

export interface GpuType {
  readonly id: string;
  readonly displayName: string;
  readonly memoryGb: number;
  /** the serverless pool it belongs to */
  readonly pool: string | null;
  readonly manufacturer: 'Nvidia' | 'AMD';
  readonly maxCount: { readonly [C in Cloud]: number };
  readonly serverlessMicroUsdPerHour: number | null;
}

export interface DataCenter {
  readonly id: string;
  readonly region: 'EUROPE' | 'NORTH_AMERICA';
  readonly countryCode: string;
}

/** One place where one card is offered. What is said of it and what is there are two things. */
export interface StockCell {
  readonly gpuId: string;
  readonly cloud: Cloud;
  readonly dataCenterId: string;
  /** for one card */
  microUsdPerHour: number;
  /** least bid for one card; null = not offered as spot */
  spotMicroUsdPerHour: number | null;
  stock: StockWord;
  /** cards that exist here, rented ones included */
  supply: number;
  /** highest CUDA version of the hosts */
  cudaVersion: string;
}

export interface Catalogue {
  readonly gpus: readonly GpuType[];
  readonly dataCenters: readonly DataCenter[];
  readonly cells: StockCell[];
}

type Row = readonly [
  id: string,
  memoryGb: number,
  pool: string | null,
  secureUsd: number,
  communityUsd: number | null,
  spotUsd: number | null,
];

/** Prices are of the right size, not quotes. */
const ROWS: readonly Row[] = [
  ['NVIDIA RTX A4000', 16, 'AMPERE_16', 0.25, 0.17, 0.12],
  ['NVIDIA RTX A4500', 20, 'AMPERE_16', 0.25, 0.19, 0.13],
  ['NVIDIA RTX 4000 Ada Generation', 20, 'AMPERE_16', 0.26, 0.2, 0.15],
  ['NVIDIA RTX A5000', 24, 'AMPERE_24', 0.27, 0.16, 0.13],
  ['NVIDIA GeForce RTX 3090', 24, 'AMPERE_24', 0.46, 0.22, 0.19],
  ['NVIDIA L4', 24, 'AMPERE_24', 0.39, 0.32, 0.22],
  ['NVIDIA GeForce RTX 4090', 24, 'ADA_24', 0.69, 0.34, 0.29],
  ['NVIDIA GeForce RTX 5090', 32, 'ADA_32_PRO', 0.99, 0.69, 0.53],
  ['NVIDIA A40', 48, 'AMPERE_48', 0.44, 0.35, 0.24],
  ['NVIDIA RTX A6000', 48, 'AMPERE_48', 0.49, 0.33, 0.28],
  ['NVIDIA L40S', 48, 'ADA_48_PRO', 0.86, 0.79, 0.45],
  ['NVIDIA A100 80GB PCIe', 80, 'AMPERE_80', 1.39, 1.19, 0.82],
  ['NVIDIA H100 80GB HBM3', 80, 'ADA_80_PRO', 2.99, null, 1.75],
  ['NVIDIA H200', 141, null, 3.99, null, null],
];

const DATA_CENTERS: readonly DataCenter[] = [
  { id: 'EU-SE-1', region: 'EUROPE', countryCode: 'SE' },
  { id: 'EU-RO-1', region: 'EUROPE', countryCode: 'RO' },
  { id: 'US-KS-2', region: 'NORTH_AMERICA', countryCode: 'US' },
  { id: 'CA-MTL-1', region: 'NORTH_AMERICA', countryCode: 'CA' },
];

const COMMUNITY_CENTERS = new Set(['EU-SE-1', 'US-KS-2']);
const CARDS_A_CELL = 8;

export function defaultCatalogue(): Catalogue {
  const gpus = ROWS.map(
    ([id, memoryGb, pool, secureUsd, communityUsd]): GpuType => ({
      id,
      displayName: id.replace(/^NVIDIA (GeForce )?/, '').replace(' Generation', ''),
      memoryGb,
      pool,
      manufacturer: 'Nvidia',
      maxCount: { SECURE: 8, COMMUNITY: communityUsd === null ? 0 : 4 },
      serverlessMicroUsdPerHour: pool === null ? null : microUsd(secureUsd * 2),
    }),
  );
  return { gpus, dataCenters: DATA_CENTERS, cells: ROWS.flatMap(cellsOf) };
}

function cellsOf([gpuId, , , secureUsd, communityUsd, spotUsd]: Row): StockCell[] {
  return DATA_CENTERS.flatMap(({ id: dataCenterId }) => {
    const cell = (cloud: Cloud, usd: number): StockCell => ({
      gpuId,
      cloud,
      dataCenterId,
      microUsdPerHour: microUsd(usd),
      spotMicroUsdPerHour: spotUsd === null ? null : microUsd(spotUsd),
      stock: 'High',
      supply: CARDS_A_CELL,
      cudaVersion: '12.8',
    });
    const community = communityUsd !== null && COMMUNITY_CENTERS.has(dataCenterId);
    return [cell('SECURE', secureUsd), ...(community ? [cell('COMMUNITY', communityUsd)] : [])];
  });
}

/** Money is counted in whole millionths of a dollar an hour, so that sums are exact. */
export function microUsd(usd: number): number {
  return Math.round(usd * 1_000_000);
}

export function usd(micro: number): number {
  return micro / 1_000_000;
}

const STOCK_ORDER: readonly StockWord[] = ['None', 'Low', 'Medium', 'High'];

export function bestStock(cells: readonly StockCell[]): StockWord {
  return cells.reduce<StockWord>(
    (best, { stock }) => (STOCK_ORDER.indexOf(stock) > STOCK_ORDER.indexOf(best) ? stock : best),
    'None',
  );
}
