import { REPORT_FRESH_MS } from '../pool/merge-reports.ts';
import { type AssignPod, type AssignWorker, assignSlices, type Widths } from './assign-slices.ts';
import { HAND_OVER_RULES, type HandOverRules } from './hand-over-rules.ts';
import type { HandOverState, WorkerKnowledge } from './hand-over-state.ts';
import { Reservations } from './reservations.ts';

export interface HandOverPod {
  readonly id: string;
  readonly pool: string;
  /** what the pod runs at once, as it was launched; it never changes */
  readonly width: number;
  /** false: set aside or draining, nobody gets width on it */
  readonly usable: boolean;
}

/** A slice to be put under (epoch, rev); the caller adds address, token and mode of each pod. */
export interface PlannedSlice {
  readonly bootId: string;
  readonly rev: number;
  readonly widths: Widths;
}

export interface PlanSlicesInput {
  readonly state: HandOverState;
  readonly pods: readonly HandOverPod[];
  readonly nowMs: number;
  /** workers whose slice must be written again although its widths stay: a token, a flag or a limit has changed */
  readonly rewrite?: ReadonlySet<string>;
}

export interface PlannedSlices {
  /** the slices count as written in it, whatever becomes of the puts: one that failed may still happen */
  readonly state: HandOverState;
  readonly slices: readonly PlannedSlice[];
}

interface Workers {
  readonly live: readonly WorkerKnowledge[];
  /** answered in this epoch; a slice can change */
  readonly answered: readonly WorkerKnowledge[];
  /** … and heard lately; width can be lent and borrowed */
  readonly active: readonly WorkerKnowledge[];
}

const NOTHING: Widths = new Map();

/** Which slices to write now: what `assignSlices` wants, held back by what others may still use (DESIGN 6, Hand-over). */
export function planSlices(input: PlanSlicesInput, rules: HandOverRules = HAND_OVER_RULES): PlannedSlices {
  const { state, pods } = input;
  if (state.superseded) return { state, slices: [] };
  const workers = sortWorkers(input, rules);
  const reserved = new Reservations(workers.live, pods, rules);
  const wanted = decideWanted(input, workers, { reserved, isOpen: rules.isPopulationKnown(state) });

  const known = new Map(state.workers);
  const slices: PlannedSlice[] = [];
  const write = (worker: WorkerKnowledge, widths: Widths): void => {
    const rev = state.nextRev + slices.length;
    slices.push({ bootId: worker.bootId, rev, widths });
    const written = remember(worker, { rev, widths });
    known.set(worker.bootId, written);
    reserved.note(written);
  };

  for (const worker of workers.answered) {
    const current = currentWidths(worker);
    const widths = new Map<string, number>();
    for (const pod of pods) {
      const has = current.get(pod.id) ?? 0;
      const target = wanted(worker, pod, has);
      const limit = rules.growthLimit(pod.width, reserved.byOthers(worker.bootId, pod.id));
      const width = target <= has ? target : Math.max(has, Math.min(target, limit));
      if (width > 0) widths.set(pod.id, width);
    }
    if (!isSame(widths, current) || input.rewrite?.has(worker.bootId)) write(worker, widths);
  }
  for (const worker of workers.live) {
    const isDue = !worker.answered && worker.written === undefined && worker.held !== undefined;
    if (isDue) write(worker, firstWidths(worker.held ?? NOTHING, pods));
  }
  return { state: { ...state, workers: known, nextRev: state.nextRev + slices.length }, slices };
}

function sortWorkers({ state, nowMs }: PlanSlicesInput, rules: HandOverRules): Workers {
  const live = [...state.workers.values()].filter((worker) => !rules.isGone(worker, nowMs));
  const answered = live.filter((worker) => worker.answered).sort(compareWait);
  return { live, answered, active: answered.filter((worker) => nowMs - worker.heardAtMs <= REPORT_FRESH_MS) };
}

/**
 * The width a worker should have of a pod. Only active workers, and only pods on which width can move, are assigned anew;
 * everywhere else everybody keeps what it has, since a width given up could not be used by anyone.
 */
function decideWanted(
  { state, pods }: PlanSlicesInput,
  { live, active }: Workers,
  { reserved, isOpen }: { reserved: Reservations; isOpen: boolean },
): (worker: WorkerKnowledge, pod: HandOverPod, has: number) => number {
  const assignable = new Map<string, AssignPod>();
  for (const pod of isOpen ? pods : []) {
    let mine = 0;
    let activeReserved = 0;
    for (const worker of active) {
      mine += currentWidths(worker).get(pod.id) ?? 0;
      activeReserved += reserved.of(worker.bootId, pod.id);
    }
    const left = pod.width - (reserved.sum(pod.id) - activeReserved);
    if (left < mine) continue;
    const width = pod.usable ? left : 0;
    assignable.set(pod.id, { id: pod.id, pool: pod.pool, width, room: pod.width - reserved.sum(pod.id) });
  }
  const slices = assignSlices(
    [...assignable.values()],
    active.map((worker) => toAssign(worker, live, state.groups)),
  );
  return (worker, pod, has) => {
    const slice = assignable.has(pod.id) ? slices.get(worker.bootId) : undefined;
    return slice ? (slice.get(pod.id) ?? 0) : pod.usable ? has : 0;
  };
}

function toAssign(
  worker: WorkerKnowledge,
  live: readonly WorkerKnowledge[],
  groups: readonly string[],
): AssignWorker {
  const rank = groups.indexOf(worker.group ?? '');
  const isBackup = live.some(({ group }) => group !== undefined && groups.indexOf(group) < rank);
  const { bootId, demand, inflight } = worker;
  return {
    bootId,
    demand,
    inflight,
    takesNew: worker.listening && !isBackup,
    current: currentWidths(worker),
  };
}

function remember(worker: WorkerKnowledge, written: { rev: number; widths: Widths }): WorkerKnowledge {
  const largest = new Map(worker.largest);
  for (const [id, width] of written.widths) largest.set(id, Math.max(width, largest.get(id) ?? 0));
  return { ...worker, acked: false, written, largest };
}

/** What it holds, cut to pods that exist. The worker itself makes sure that this is no growth (`adoptSlice`). */
function firstWidths(held: Widths, pods: readonly HandOverPod[]): Widths {
  const widths = new Map<string, number>();
  for (const pod of pods) {
    const width = Math.min(pod.width, held.get(pod.id) ?? 0);
    if (width > 0) widths.set(pod.id, width);
  }
  return widths;
}

/** In force when the newest slice is acknowledged, on its way when not. */
function currentWidths({ acked, held, written }: WorkerKnowledge): Widths {
  return (acked ? held : written?.widths) ?? NOTHING;
}

function compareWait(a: WorkerKnowledge, b: WorkerKnowledge): number {
  return longestWaitMs(b) - longestWaitMs(a) || (a.bootId < b.bootId ? -1 : 1);
}

function longestWaitMs({ demand }: WorkerKnowledge): number {
  let longest = 0;
  for (const { oldestWaitMs } of demand.values()) longest = Math.max(longest, oldestWaitMs);
  return longest;
}

function isSame(a: Widths, b: Widths): boolean {
  if (a.size !== b.size) return false;
  for (const [id, width] of a) if (b.get(id) !== width) return false;
  return true;
}
