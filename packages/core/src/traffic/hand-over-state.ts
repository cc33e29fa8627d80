import type { Report, Roster } from '@pagefleet/contract';
import type { Widths, WorkerDemand } from './assign-slices.ts';
import { HAND_OVER_RULES, type HandOverRules } from './hand-over-rules.ts';

/** What the controller knows of one worker incarnation, in this epoch. */
export interface WorkerKnowledge {
  readonly bootId: string;
  /** the roster group that lists it; undefined while only its reports are known */
  readonly group: string | undefined;
  readonly listening: boolean;
  /** the newest roster of its group names it */
  readonly listed: boolean;
  readonly exited: boolean;
  /** forked in this epoch, so no earlier controller ever gave it width */
  readonly newborn: boolean;
  /** it has reported in this epoch, so it takes no slice of an earlier one any more */
  readonly answered: boolean;
  /** its newest report acknowledges the newest slice */
  readonly acked: boolean;
  readonly seq: number;
  readonly heardAtMs: number;
  /** width in force by its newest report, of whatever epoch; undefined before the first */
  readonly held: Widths | undefined;
  readonly inflight: Widths;
  /** by pool, of this epoch */
  readonly demand: ReadonlyMap<string, WorkerDemand>;
  /** the newest slice that was put, or tried: a put that failed may still happen */
  readonly written: { readonly rev: number; readonly widths: Widths } | undefined;
  /** the largest width granted, held or in use since the last acknowledgement */
  readonly largest: Widths;
}

/** All that `planSlices` knows. It starts empty with each controller and is rebuilt from rosters and reports. */
export interface HandOverState {
  readonly epoch: number;
  readonly nextRev: number;
  /** a worker has seen a higher epoch: another controller is in charge, nothing more is written */
  readonly superseded: boolean;
  /** the roster groups there are; a group's workers take new pages only when all of the groups before it are gone */
  readonly groups: readonly string[];
  readonly rosters: ReadonlyMap<string, RosterKnowledge>;
  readonly workers: ReadonlyMap<string, WorkerKnowledge>;
}

interface RosterKnowledge {
  readonly primaryId: string;
  readonly seq: number;
  /** whom the first roster of this epoch named, exited ones included: everybody else is born later */
  readonly first: ReadonlySet<string>;
}

const NOTHING: Widths = new Map();

/** The epoch must be raised before the first roster is listened for: an older roster may miss a worker. */
export function openHandOver(epoch: number, groups: readonly string[]): HandOverState {
  return { epoch, nextRev: 1, superseded: false, groups, rosters: new Map(), workers: new Map() };
}

export function learnRoster(
  state: HandOverState,
  roster: Roster,
  nowMs: number,
  rules: HandOverRules = HAND_OVER_RULES,
): HandOverState {
  const known = state.rosters.get(roster.group);
  if (known?.primaryId === roster.primaryId && roster.seq <= known.seq) return state;
  const listed = new Map(roster.workers.map((worker) => [worker.bootId, worker]));
  const first = known?.first ?? new Set(listed.keys());

  const workers = new Map(state.workers);
  for (const worker of state.workers.values()) {
    if (worker.group !== roster.group || listed.has(worker.bootId)) continue;
    if (worker.exited) workers.delete(worker.bootId);
    else workers.set(worker.bootId, { ...worker, listed: false, listening: false });
  }
  for (const { bootId, state: is } of listed.values()) {
    const worker = workers.get(bootId) ?? unknownWorker(bootId, nowMs);
    if (worker.exited && worker.listed) continue;
    const newborn = worker.newborn || rules.isNewborn(known !== undefined, first.has(bootId));
    const listening = is === 'listening';
    const isSame = worker.listed && worker.listening === listening && worker.newborn === newborn;
    if (isSame && is !== 'exited') continue;
    const exited = worker.exited || is === 'exited';
    workers.set(bootId, { ...worker, group: roster.group, listed: true, listening, exited, newborn });
  }
  const rosters = new Map(state.rosters);
  rosters.set(roster.group, { primaryId: roster.primaryId, seq: roster.seq, first });
  return { ...state, rosters, workers };
}

export function learnReport(
  state: HandOverState,
  report: Report,
  nowMs: number,
  rules: HandOverRules = HAND_OVER_RULES,
): HandOverState {
  if (report.epoch > state.epoch) return { ...state, superseded: true };
  const worker = state.workers.get(report.bootId) ?? unknownWorker(report.bootId, nowMs);
  if (worker.exited || report.seq <= worker.seq) return state;
  const heard = { ...worker, seq: report.seq, heardAtMs: nowMs, held: widthsOf(report.held) };
  const workers = new Map(state.workers);
  workers.set(
    report.bootId,
    rules.isOfEpoch(report.epoch, state.epoch) ? learnAnswer(heard, heard.held, report, rules) : heard,
  );
  return { ...state, workers };
}

function learnAnswer(
  worker: WorkerKnowledge,
  held: Widths,
  report: Report,
  rules: HandOverRules,
): WorkerKnowledge {
  const acked = rules.isAck(report.ack, worker.written?.rev ?? 0);
  const inflight = new Map<string, number>();
  for (const [id, pod] of Object.entries(report.pods)) if (pod.inflight > 0) inflight.set(id, pod.inflight);
  const largest = new Map<string, number>();
  for (const id of new Set([...held.keys(), ...inflight.keys(), ...worker.largest.keys()])) {
    const inUse = rules.acked(held.get(id) ?? 0, inflight.get(id) ?? 0);
    const width = acked ? inUse : Math.max(inUse, worker.largest.get(id) ?? 0);
    if (width > 0) largest.set(id, width);
  }
  const demand = new Map<string, WorkerDemand>();
  for (const [pool, { inflight: running, waiting, unsplit, oldestWaitMs }] of Object.entries(report.pools)) {
    demand.set(pool, { inflight: running, waiting: waiting + unsplit, oldestWaitMs });
  }
  return { ...worker, answered: true, acked, inflight, demand, largest };
}

function unknownWorker(bootId: string, nowMs: number): WorkerKnowledge {
  return {
    bootId,
    group: undefined,
    listening: false,
    listed: false,
    exited: false,
    newborn: false,
    answered: false,
    acked: false,
    seq: -1,
    heardAtMs: nowMs,
    held: undefined,
    inflight: NOTHING,
    demand: new Map(),
    written: undefined,
    largest: NOTHING,
  };
}

function widthsOf(record: Readonly<Record<string, number>>): Widths {
  return new Map(Object.entries(record).filter(([, width]) => width > 0));
}
