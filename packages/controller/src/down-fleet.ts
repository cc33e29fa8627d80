import { isExisting, type ListingHistory, type Pod } from '@pagefleet/core';
import type { DownRequest } from './http/down-route.ts';

interface DownDeps {
  readonly clusterId: string;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly pods: () => Iterable<Pod>;
  readonly listing: () => ListingHistory;
  /** from now on no worker takes new pages, and no pod is rented */
  readonly closeDoor: () => void;
  /** pages that workers still have, read or waiting; null = nobody can say */
  readonly pagesLeft: () => number | null;
  /** from now on nothing is rented and every pod leaves; pods get at most this long to finish their pages */
  readonly stop: (drainTimeoutMs: number) => void;
  readonly wantListing: (atMs: number) => void;
  readonly inFlight: (podId: string) => number;
  readonly hourlyUsd: () => number;
  /** longest a pod of this configuration may drain */
  readonly graceMs: number;
}

const POLL_MS = 250;
/** Until each worker has read that the door is closed, and has reported what came in before. */
const CLOSE_SETTLE_MS = 1_200;
const NO_PROGRESS_MS = 15_000;
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
 * Closes the door, lets the pages that are in finish, ends every pod of this cluster, and tells of every change. Done is
 * when no pod is held and two complete listings, both begun after that, show none of ours (DESIGN 3, Stopping).
 */
export async function* downFleet(request: DownRequest, deps: DownDeps): AsyncGenerator<DownLine> {
  if (request.keepPods) {
    yield keptLine(deps);
    return;
  }
  const drainMs = Math.min(request.drainTimeoutMs ?? deps.graceMs, deps.graceMs);
  const telling = new Telling(deps);
  deps.closeDoor();
  const drainUntilMs = deps.nowMs() + drainMs;
  const patience = new Patience(deps, drainUntilMs);
  while (patience.isWorthWaiting()) {
    yield* telling.next();
    await deps.sleep(POLL_MS);
  }
  deps.stop(Math.max(0, drainUntilMs - deps.nowMs()));
  const deadlineMs = drainUntilMs + END_ALLOWANCE_MS;
  let emptySinceMs: number | null = null;
  while (deps.nowMs() < deadlineMs) {
    yield* telling.next();
    if (telling.remaining > 0) emptySinceMs = null;
    else emptySinceMs ??= deps.nowMs();
    if (emptySinceMs !== null && isProvenEmpty(deps, emptySinceMs)) {
      yield { type: 'done', ended: telling.seen.size, remaining: [], live_hourly_usd: deps.hourlyUsd() };
      return;
    }
    deps.wantListing(deps.nowMs() + (emptySinceMs === null ? LISTING_PAUSE_MS : 0));
    await deps.sleep(POLL_MS);
  }
  yield failedLine(deps);
}

/** Pages that are in are waited for as long as they become fewer; a door that does not close must not hold up the end. */
class Patience {
  readonly #deps: DownDeps;
  readonly #untilMs: number;
  readonly #believedFromMs: number;
  #least = Number.POSITIVE_INFINITY;
  #leastAtMs: number;

  constructor(deps: DownDeps, untilMs: number) {
    this.#deps = deps;
    this.#untilMs = untilMs;
    this.#leastAtMs = deps.nowMs();
    this.#believedFromMs = this.#leastAtMs + CLOSE_SETTLE_MS;
  }

  isWorthWaiting(): boolean {
    const nowMs = this.#deps.nowMs();
    if (nowMs >= this.#untilMs) return false;
    const left = this.#deps.pagesLeft() ?? 0;
    if (left < this.#least) {
      this.#least = left;
      this.#leastAtMs = nowMs;
    }
    if (nowMs < this.#believedFromMs) return true;
    return left > 0 && nowMs - this.#leastAtMs < NO_PROGRESS_MS;
  }
}

/** What has been told, so that each line says something new, or repeats the last one when it is old. */
class Telling {
  readonly seen = new Set<string>();
  remaining = 0;
  readonly #deps: DownDeps;
  #lastLine = '';
  #lastMs = 0;

  constructor(deps: DownDeps) {
    this.#deps = deps;
  }

  *next(): Generator<DownLine> {
    const pods = [...this.#deps.pods()].filter(isExisting);
    this.remaining = pods.length;
    for (const pod of pods) this.seen.add(pod.id ?? pod.name);
    const line = progressLine(pods, this.#deps);
    const text = JSON.stringify(line);
    if (text === this.#lastLine && this.#deps.nowMs() - this.#lastMs < REPEAT_MS) return;
    this.#lastLine = text;
    this.#lastMs = this.#deps.nowMs();
    yield line;
  }
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
