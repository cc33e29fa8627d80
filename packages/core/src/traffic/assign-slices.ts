import { placeWidth } from './place-width.ts';
import { shareWidth } from './share-width.ts';

/** Pod id → width; a pod that is not named has none. */
export type Widths = ReadonlyMap<string, number>;

export interface AssignPod {
  readonly id: string;
  readonly pool: string;
  /** width to give out now: 0 for a pod that is set aside or drains */
  readonly width: number;
  /** how much of it can be granted at once; all of it when left out */
  readonly room?: number;
}

export interface WorkerDemand {
  readonly inflight: number;
  /** pages that wait or are known but not yet split */
  readonly waiting: number;
  readonly oldestWaitMs: number;
}

export interface AssignWorker {
  readonly bootId: string;
  /** false: it leaves, and gets only what its own pages need */
  readonly takesNew: boolean;
  /** by pool */
  readonly demand: ReadonlyMap<string, WorkerDemand>;
  readonly current: Widths;
  readonly inflight: Widths;
}

const NO_DEMAND: WorkerDemand = { inflight: 0, waiting: 0, oldestWaitMs: 0 };

/**
 * Who should have which width on which pod (L9): balanced by width when all have work, idle width lent to those that wait,
 * and of all such answers one that moves little. Deterministic. This is what is wanted; what may be granted now is the
 * hand-over rule's to say (`planSlices`).
 */
export function assignSlices(
  pods: readonly AssignPod[],
  workers: readonly AssignWorker[],
): Map<string, Map<string, number>> {
  const ordered = workers.toSorted((a, b) => (a.bootId < b.bootId ? -1 : 1));
  const slices = new Map<string, Map<string, number>>(ordered.map((worker) => [worker.bootId, new Map()]));
  const sorted = pods.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const pool of new Set(sorted.map((pod) => pod.pool))) {
    const members = sorted.filter((pod) => pod.pool === pool);
    for (const [bootId, widths] of assignPool(pool, members, ordered)) {
      const slice = slices.get(bootId);
      for (const [id, width] of widths) slice?.set(id, width);
    }
  }
  return slices;
}

function assignPool(
  pool: string,
  pods: readonly AssignPod[],
  workers: readonly AssignWorker[],
): Map<string, Map<string, number>> {
  const ids = new Set(pods.map((pod) => pod.id));
  const claims = workers.map((worker) => {
    const { inflight, waiting, oldestWaitMs } = worker.demand.get(pool) ?? NO_DEMAND;
    const current = new Map([...worker.current].filter(([id]) => ids.has(id)));
    const demand = Math.max(0, inflight + waiting - sum(pods.map(({ id }) => overhang(worker, id))));
    const claim = { ...worker, demand, inflight, oldestWaitMs, current: sum(current.values()) };
    return { claim, placement: { bootId: worker.bootId, oldestWaitMs, current, inflight: worker.inflight } };
  });
  const open = pods.map(({ id, width, room }) => {
    const taken = sum(workers.map((worker) => overhang(worker, id)));
    return { id, width: Math.max(0, width - taken), room: Math.max(0, room ?? width) };
  });
  const totals = shareWidth(
    sum(open.map((pod) => pod.width)),
    claims.map(({ claim }) => claim),
  );
  return placeWidth(
    open,
    claims.map(({ placement }) => ({ ...placement, total: totals.get(placement.bootId) ?? 0 })),
  );
}

/** Pages that still run on width the worker had before: they need none, and nobody can have it until they are over. */
function overhang({ inflight, current }: AssignWorker, podId: string): number {
  return Math.max(0, (inflight.get(podId) ?? 0) - (current.get(podId) ?? 0));
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
}
