import { type Answer, json } from '../http/answer.ts';
import { costWithin, type ExactCost, type LedgerLine, ledgerLines, usdOf } from '../table/ledger.ts';
import { WINDOW_MS } from '../table/quota.ts';
import { Problem } from './problem.ts';
import type { V2Request, V2Route } from './serve-v2.ts';

export const BILLING_ROUTES: readonly V2Route[] = [
  { method: 'GET', pattern: '/billing', handler: aggregate },
  { method: 'GET', pattern: '/billing/pods', handler: byPod },
  // Nothing but pods costs anything here.
  ...['serverless', 'endpoints', 'network-volumes', 'clusters'].map(
    (kind): V2Route => ({
      method: 'GET',
      pattern: `/billing/${kind}`,
      handler: async (request) => {
        const { query } = windowOf(request);
        return json(200, { records: [], metadata: { query, recordCount: 0, totals: { totalAmount: 0 } } });
      },
    }),
  ),
];

const BUCKETS = ['hour', 'day', 'week', 'month', 'year'] as const;
type Bucket = (typeof BUCKETS)[number];

interface Window {
  readonly bounds: readonly (readonly [fromMs: number, toMs: number])[];
  readonly query: { readonly startTime: string; readonly endTime: string; readonly bucketSize: Bucket };
}

/** One record for each pod and bucket in which it billed; the window is widened to whole buckets. */
async function byPod(request: V2Request): Promise<Answer> {
  const podId = request.query.get('podId');
  const { bounds, query } = windowOf(request);
  const own = linesOf(request).filter((line) => podId === null || line.podId === podId);
  const pods = [...Map.groupBy(own, (line) => line.podId)];
  const costs = bounds.flatMap((bucket) =>
    pods.flatMap(([id, lines]) => {
      const exact = costOf(lines, bucket);
      return exact === 0n ? [] : [{ id, exact, gpu: lines[0]?.gpuId != null, bucket }];
    }),
  );
  const records = costs.map(({ id, exact, gpu, bucket }) => ({
    ...times(bucket),
    ...amounts([{ exact, gpu }]),
    podId: id,
  }));
  const metadata = {
    query: { ...query, podId },
    recordCount: records.length,
    uniquePodCount: new Set(records.map((record) => record.podId)).size,
    totals: amounts(costs),
  };
  return json(200, { records, metadata });
}

async function aggregate(request: V2Request): Promise<Answer> {
  const { bounds, query } = windowOf(request);
  const lines = linesOf(request);
  const gpus = lines.filter(({ gpuId }) => gpuId !== null);
  const cpus = lines.filter(({ gpuId }) => gpuId === null);
  const costs = bounds.map((bucket) => ({ bucket, gpu: costOf(gpus, bucket), cpu: costOf(cpus, bucket) }));
  const records = costs.map(({ bucket, gpu, cpu }) => ({ ...times(bucket), ...allAmounts(gpu, cpu) }));
  const sum = (pick: 'gpu' | 'cpu'): ExactCost => costs.reduce((total, cost) => total + cost[pick], 0n);
  const metadata = { query, recordCount: records.length, totals: allAmounts(sum('gpu'), sum('cpu')) };
  return json(200, { records, metadata });
}

function linesOf({ service }: V2Request): LedgerLine[] {
  return ledgerLines(service.account.pods.values(), service.clock.nowMs());
}

function costOf(lines: readonly LedgerLine[], [fromMs, toMs]: readonly [number, number]): ExactCost {
  return lines.reduce((sum, line) => sum + costWithin(line, fromMs, toMs).exact, 0n);
}

function amounts(costs: readonly { readonly exact: ExactCost; readonly gpu: boolean }[]) {
  const sum = (gpu: boolean): ExactCost =>
    costs.reduce((total, cost) => (cost.gpu === gpu ? total + cost.exact : total), 0n);
  return {
    totalAmount: usdOf(sum(true) + sum(false)),
    gpuAmount: usdOf(sum(true)),
    cpuAmount: usdOf(sum(false)),
    diskAmount: 0,
  };
}

function allAmounts(gpu: ExactCost, cpu: ExactCost) {
  return {
    totalAmount: usdOf(gpu + cpu),
    podGpuAmount: usdOf(gpu),
    podCpuAmount: usdOf(cpu),
    podDiskAmount: 0,
    serverlessGpuAmount: 0,
    serverlessCpuAmount: 0,
    serverlessDiskAmount: 0,
    serverlessFeeAmount: 0,
    storageStandardAmount: 0,
    storageHighPerformanceAmount: 0,
    endpointAmount: 0,
    clusterGpuAmount: 0,
    clusterDiskAmount: 0,
    clusterNetworkingAmount: 0,
  };
}

function windowOf({ service, query }: V2Request): Window {
  const bucketSize = bucketOf(query.get('bucketSize'));
  const nowMs = service.clock.nowMs();
  const lastN = query.get('lastN');
  if (lastN !== null && (query.has('startTime') || query.has('endTime'))) {
    throw new Problem(400, 'lastN excludes startTime and endTime');
  }
  if (lastN !== null && !/^[1-9]\d*$/.test(lastN))
    throw new Problem(422, '$.lastN: minimum: got less than 1');
  const endMs = instantOf(query.get('endTime'), nowMs);
  let fromMs = bucketStart(bucketSize, instantOf(query.get('startTime'), nowMs - 30 * WINDOW_MS.day));
  if (lastN !== null) {
    fromMs = bucketStart(bucketSize, nowMs);
    for (let left = Number(lastN); left > 1; left -= 1) fromMs = bucketStart(bucketSize, fromMs - 1);
  }
  const bounds: [number, number][] = [];
  for (let at = fromMs; at < endMs; at = nextBucket(bucketSize, at))
    bounds.push([at, nextBucket(bucketSize, at)]);
  const toMs = bounds.at(-1)?.[1] ?? fromMs;
  return { bounds, query: { ...times([fromMs, toMs]), bucketSize } };
}

function times([fromMs, toMs]: readonly [number, number]): { startTime: string; endTime: string } {
  return { startTime: new Date(fromMs).toISOString(), endTime: new Date(toMs).toISOString() };
}

/** In UTC; a week begins on Monday. */
function bucketStart(bucket: Bucket, atMs: number): number {
  const date = new Date(atMs);
  if (bucket === 'year') return Date.UTC(date.getUTCFullYear(), 0);
  if (bucket === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  if (bucket === 'hour') return Math.floor(atMs / WINDOW_MS.hour) * WINDOW_MS.hour;
  const day = Math.floor(atMs / WINDOW_MS.day);
  // 1970 began on a Thursday.
  return (bucket === 'day' ? day : day - ((day + 3) % 7)) * WINDOW_MS.day;
}

const LONGEST_MS: { readonly [B in Bucket]: number } = {
  hour: WINDOW_MS.hour,
  day: WINDOW_MS.day,
  week: 7 * WINDOW_MS.day,
  month: 31 * WINDOW_MS.day,
  year: 366 * WINDOW_MS.day,
};

function nextBucket(bucket: Bucket, startMs: number): number {
  return bucketStart(bucket, startMs + LONGEST_MS[bucket]);
}

function bucketOf(word: string | null): Bucket {
  const bucket = BUCKETS.find((known) => known === (word ?? 'day'));
  if (!bucket)
    throw new Problem(422, 'Request validation failed.', [
      `$.bucketSize: value must be one of ${BUCKETS.join(', ')}`,
    ]);
  return bucket;
}

function instantOf(text: string | null, otherwiseMs: number): number {
  const ms = text === null ? otherwiseMs : Date.parse(text);
  if (Number.isNaN(ms)) throw new Problem(422, `"${text}" is not a time`);
  return ms;
}
