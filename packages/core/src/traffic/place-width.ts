import type { Widths } from './assign-slices.ts';

/** One worker's total in one pool, to be placed on pods. */
export interface Placement {
  readonly bootId: string;
  readonly total: number;
  readonly oldestWaitMs: number;
  /** width it has now, by pod */
  readonly current: Widths;
  /** its pages in flight, by pod */
  readonly inflight: Widths;
}

export interface PlacedPod {
  readonly id: string;
  /** width to give out */
  readonly width: number;
  /** how much of it nobody holds or may still use: it can be granted at once */
  readonly room: number;
}

/**
 * Which pods the totals lie on, with the fewest moves: everybody keeps what it has up to its total, gives up idle width
 * before busy width, and takes what is missing first where it can be granted at once.
 */
export function placeWidth(
  pods: readonly PlacedPod[],
  workers: readonly Placement[],
): Map<string, Map<string, number>> {
  const placed = new Map<string, Map<string, number>>();
  const free = new Map(pods.map((pod) => [pod.id, pod.width]));
  for (const worker of workers) placed.set(worker.bootId, keep(worker, free));
  const room = new Map(pods.map((pod) => [pod.id, pod.room]));
  const byWait = workers.toSorted(
    (a, b) => b.oldestWaitMs - a.oldestWaitMs || (a.bootId < b.bootId ? -1 : 1),
  );
  for (const limits of [room, free]) {
    for (const worker of byWait) {
      const own = placed.get(worker.bootId);
      if (own) fill(own, worker.total, [free, limits]);
    }
  }
  return placed;
}

/** What the worker keeps of its width, taken out of `free`. */
function keep(worker: Placement, free: Map<string, number>): Map<string, number> {
  const kept = new Map<string, number>();
  let excess = -worker.total;
  for (const [id, width] of worker.current) {
    const fits = Math.min(width, free.get(id) ?? 0);
    if (fits <= 0) continue;
    kept.set(id, fits);
    excess += fits;
  }
  const idle = (id: string): number => (kept.get(id) ?? 0) - (worker.inflight.get(id) ?? 0);
  if (excess > 0) {
    const ids = [...kept.keys()].sort();
    for (const spared of [idle, () => Number.POSITIVE_INFINITY]) {
      for (const id of ids) excess -= giveUp(kept, id, Math.min(excess, spared(id)));
    }
  }
  for (const [id, width] of kept) free.set(id, (free.get(id) ?? 0) - width);
  return kept;
}

function giveUp(kept: Map<string, number>, id: string, wanted: number): number {
  const has = kept.get(id) ?? 0;
  const given = Math.max(0, Math.min(has, wanted));
  if (given === has) kept.delete(id);
  else kept.set(id, has - given);
  return given;
}

/** Adds what is missing, within every limit, on pods the worker has before others, the freest first. */
function fill(own: Map<string, number>, total: number, limits: ReadonlyArray<Map<string, number>>): void {
  let missing = total;
  for (const width of own.values()) missing -= width;
  if (missing <= 0) return;
  const allowed = (id: string): number => Math.min(...limits.map((limit) => limit.get(id) ?? 0));
  const ids = [...(limits[0]?.keys() ?? [])].filter((id) => allowed(id) > 0);
  ids.sort((a, b) => Number(own.has(b)) - Number(own.has(a)) || allowed(b) - allowed(a) || (a < b ? -1 : 1));
  for (const id of ids) {
    const width = Math.min(missing, allowed(id));
    if (width <= 0) break;
    own.set(id, (own.get(id) ?? 0) + width);
    for (const limit of new Set(limits)) limit.set(id, (limit.get(id) ?? 0) - width);
    missing -= width;
  }
}
