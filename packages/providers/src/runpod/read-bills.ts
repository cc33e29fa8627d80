import type { BilledPod } from '../port.ts';
import type { Clock, Send } from './api-call.ts';
import type { ApiMeters } from './api-meters.ts';
import { isRecord } from './read-complaint.ts';
import { failureOf } from './read-failure.ts';
import { readPages } from './read-pages.ts';
import { parseTime } from './read-pod.ts';

const HOUR_MS = 3_600_000;
const WHAT = 'The bills of the account cannot be read';

/** What REST v2 billed for each pod and hour. Hours in which `fromMs` lies come whole. */
export async function readBills(
  { send, clock, meters }: { send: Send; clock: Clock; meters: ApiMeters },
  fromMs: number,
): Promise<BilledPod[]> {
  await meters.refresh();
  const startTime = new Date(Math.floor(fromMs / HOUR_MS) * HOUR_MS).toISOString();
  const list = {
    operation: 'billing',
    path: '/billing/pods',
    query: { startTime, bucketSize: 'hour' },
  } as const;
  const pages = await readPages(send, clock, { ...list, name: 'records' });
  if (pages.kind === 'failed') throw failureOf(pages.answer, 'rest', WHAT);
  return pages.items.flatMap(readBill).filter(({ untilMs }) => untilMs > fromMs);
}

/**
 * `startTime`, `endTime` and `totalAmount`, as v2 describes its records; `time`, `timeBilledMs` and `amount` as v1 did. A
 * record that is neither bills no pod of ours that we could name.
 */
function readBill(record: unknown): BilledPod[] {
  if (!isRecord(record) || typeof record.podId !== 'string') return [];
  const fromMs = parseTime(record.startTime ?? record.time);
  const usd = record.totalAmount ?? record.amount;
  if (fromMs === null || typeof usd !== 'number') return [];
  return [{ podId: record.podId, fromMs, untilMs: parseTime(record.endTime) ?? fromMs + HOUR_MS, usd }];
}
