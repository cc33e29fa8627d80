import { setTimeout as sleep } from 'node:timers/promises';
import { isExisting, type ListingHistory, type Pod } from '@pagefleet/core';
import type { DownRequest } from './http/down-route.ts';

interface DownDeps {
  readonly clusterId: string;
  readonly nowMs: () => number;
  readonly pods: () => Iterable<Pod>;
  readonly listing: () => ListingHistory;
  /** from now on nothing is rented and every pod leaves; pods get at most this long to finish their pages */
  readonly stop: (drainTimeoutMs: number | null) => void;
  readonly wantListing: (atMs: number) => void;
  readonly inFlight: (podId: string) => number;
  readonly hourlyUsd: () => number;
  /** longest a pod of this configuration may drain */
  readonly graceMs: number;
}

const POLL_MS = 250;
/** An unchanged state is told again, so that nobody on the way takes the silence for the end. */
const REPEAT_MS = 5_000;
const LISTING_PAUSE_MS = 1_000;
/** After the drain: asked to end, ended, and shown by two listings to be gone. */
const END_ALLOWANCE_MS = 120_000;

type DownLine =
  | {
      type: 'progress';
      remaining: number;
      in_flight: number;
      pods: { id: string; state: string; in_flight: number }[];
    }
  | {
      type: 'kept';
      pods: { id: string; state: string; price_usd_per_hour: number | null }[];
      live_hourly_usd: number;
    }
  | { type: 'done'; ended: number; remaining: string[]; live_hourly_usd: number }
  | { type: 'failed'; code: 'pods_remain'; message: string; remaining: string[]; live_hourly_usd: number };

/**
 * Drains and ends every pod of this cluster and tells of every change. Done is when no pod is held and two complete
 * listings, both begun after that, show none of ours (DESIGN 3, Stopping).
 */
export async function* downFleet(request: DownRequest, deps: DownDeps): AsyncGenerator<DownLine> {
  if (request.keepPods) {
    yield keptLine(deps);
    return;
  }
  const ended = new Set<string>();
  const drainMs = Math.min(request.drainTimeoutMs ?? deps.graceMs, deps.graceMs);
  const deadlineMs = deps.nowMs() + drainMs + END_ALLOWANCE_MS;
  let emptySinceMs: number | null = null;
  let lastLine = '';
  let lastLineMs = 0;
  deps.stop(request.drainTimeoutMs);
  while (deps.nowMs() < deadlineMs) {
    const pods = [...deps.pods()].filter(isExisting);
    for (const pod of pods) ended.add(pod.id ?? pod.name);
    const line = progressLine(pods, deps);
    if (JSON.stringify(line) !== lastLine || deps.nowMs() - lastLineMs >= REPEAT_MS) {
      lastLine = JSON.stringify(line);
      lastLineMs = deps.nowMs();
      yield line;
    }
    if (pods.length > 0) emptySinceMs = null;
    else emptySinceMs ??= deps.nowMs();
    if (emptySinceMs !== null && isProvenEmpty(deps, emptySinceMs)) {
      yield { type: 'done', ended: ended.size, remaining: [], live_hourly_usd: deps.hourlyUsd() };
      return;
    }
    deps.wantListing(deps.nowMs() + (emptySinceMs === null ? LISTING_PAUSE_MS : 0));
    await sleep(POLL_MS);
  }
  yield failedLine(deps);
}

function isProvenEmpty(deps: DownDeps, sinceMs: number): boolean {
  const { newest, previous } = deps.listing();
  return [newest, previous].every(
    (listing) =>
      listing !== null &&
      listing.startedAtMs >= sinceMs &&
      listing.pods.every((entry) => entry.mark?.clusterId !== deps.clusterId),
  );
}

function progressLine(pods: readonly Pod[], deps: DownDeps): DownLine {
  const lines = pods.map((pod) => ({
    id: pod.id ?? pod.name,
    state: pod.state,
    in_flight: pod.id === null ? 0 : deps.inFlight(pod.id),
  }));
  const inFlight = lines.reduce((sum, line) => sum + line.in_flight, 0);
  return { type: 'progress', remaining: pods.length, in_flight: inFlight, pods: lines };
}

function keptLine(deps: DownDeps): DownLine {
  const pods = [...deps.pods()].filter(isExisting).map((pod) => ({
    id: pod.id ?? pod.name,
    state: pod.state,
    price_usd_per_hour: pod.priceUsdPerHour,
  }));
  return { type: 'kept', pods, live_hourly_usd: deps.hourlyUsd() };
}

function failedLine(deps: DownDeps): DownLine {
  const held = [...deps.pods()].filter(isExisting).map((pod) => pod.id ?? pod.name);
  const listed = (deps.listing().newest?.pods ?? [])
    .filter((entry) => entry.mark?.clusterId === deps.clusterId)
    .map((entry) => entry.id);
  const remaining = [...new Set([...held, ...listed])];
  return {
    type: 'failed',
    code: 'pods_remain',
    message: `${remaining.length} pods are not proven gone and may still bill`,
    remaining,
    live_hourly_usd: deps.hourlyUsd(),
  };
}
