import type { FleetStatus } from '@pagefleet/contract';
import { type ListingHistory, REPORT_FRESH_MS } from '@pagefleet/core';
import type { WorkerBook } from '../observe/worker-book.ts';

interface LateInput {
  readonly nowMs: number;
  readonly listing: ListingHistory;
  /** pause between listings; two missed ones are late */
  readonly listingIntervalMs: number;
  readonly bus: { readonly connected: boolean; readonly lastConnectedMs: number | null };
  readonly workers: WorkerBook;
  readonly pods: { readonly late: string | null; readonly ageMs: number | null };
}

/** The sources whose values in a snapshot are not of now, with the age of what is shown instead. */
export function lateSources(input: LateInput): FleetStatus['degraded'] {
  const { nowMs, listing, bus } = input;
  const late: FleetStatus['degraded'] = [];
  const listingAgeMs = listing.newest === null ? null : nowMs - listing.newest.endedAtMs;
  if (listingAgeMs === null) late.push({ source: 'account', ageMs: null, reason: 'no complete listing yet' });
  else if (listingAgeMs > 2 * input.listingIntervalMs + 5_000) {
    late.push({ source: 'account', ageMs: listingAgeMs, reason: 'the account could not be listed' });
  }
  if (!bus.connected) {
    const ageMs = bus.lastConnectedMs === null ? null : nowMs - bus.lastConnectedMs;
    late.push({ source: 'bus', ageMs, reason: 'NATS does not answer; what workers do is not known' });
  }
  for (const worker of input.workers.workers()) {
    if (worker.state === 'exited') continue;
    const received = input.workers.reportOf(worker.bootId);
    const ageMs = received === null ? null : nowMs - received.receivedAtMs;
    if (ageMs === null || ageMs > REPORT_FRESH_MS) {
      late.push({ source: `worker ${worker.worker}`, ageMs, reason: 'no report' });
    }
  }
  if (input.pods.late !== null) {
    late.push({ source: 'pods', ageMs: input.pods.ageMs, reason: input.pods.late });
  }
  return late;
}
