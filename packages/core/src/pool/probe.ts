import type { WatchSettings } from './watch.ts';

/**
 * Why a pod is asked:
 * `boot` until it answers for the first time, `check` now and then while it serves, `immediate` once when it falls under
 * suspicion, `scheduled` at the probe interval while it is unreachable, `trial` with one page while it refuses, and once for the
 * first pod of a configuration.
 */
export type ProbePurpose = 'boot' | 'check' | 'immediate' | 'scheduled' | 'trial';

/** A question that is out. Its time identifies it: a result is used only for the question the pod still waits on. */
export interface AskedProbe {
  readonly purpose: ProbePurpose;
  readonly askedAtMs: number;
}

/**
 * `ready` … `unfit` come from a gateway that proved who it is; `page-read` and `page-refused` from a trial page, and
 * `page-faulty` where the pod found the trial's request at fault, which says nothing about the pod;
 * `ours` is a shortage on our side.
 */
export type ProbeOutcome =
  | 'ready'
  | 'busy'
  | 'starting'
  | 'dead'
  | 'unfit'
  | 'page-read'
  | 'page-refused'
  | 'page-faulty'
  | 'refused'
  | 'timeout'
  | 'unproven'
  | 'wrong-owner'
  | 'ours';

export interface ProbeResult {
  readonly purpose: ProbePurpose;
  readonly askedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: ProbeOutcome;
  /** the pod's own words for its outcome, for people */
  readonly detail?: string;
}

interface OutcomeRow {
  /** the pod itself answered, so we can reach it */
  readonly reached: boolean;
  /** `answer` restores an unreachable pod, `failure` speaks against the pod, `nothing` says nothing about it */
  readonly verdict: 'answer' | 'failure' | 'nothing';
  /** a booting pod may serve */
  readonly serves: boolean;
  readonly words: string;
}

/**
 * `dead` reaches us and is still a failed probe. `wrong-owner` is no strike: another controller feeds the pod,
 * and ending it would be a theft. `unfit` is a dead engine that its settings keep from starting: a boot that says so is over.
 */
export const OUTCOMES = {
  ready: row(true, 'answer', true, 'answered'),
  busy: row(true, 'answer', true, 'answered that its engine is busy'),
  starting: row(true, 'answer', false, 'answered that its engine is starting'),
  dead: row(true, 'failure', false, 'says that its engine is dead'),
  unfit: row(true, 'failure', false, 'says that its engine cannot start'),
  'page-read': row(true, 'answer', true, 'read a trial page'),
  'page-refused': row(true, 'answer', false, 'refused a trial page'),
  'page-faulty': row(true, 'nothing', false, 'found a trial page at fault'),
  refused: row(false, 'failure', false, 'refused the connection'),
  timeout: row(false, 'failure', false, 'did not answer in time'),
  unproven: row(false, 'failure', false, 'answered without proving who it is'),
  'wrong-owner': row(true, 'nothing', false, 'belongs to another controller'),
  ours: row(false, 'nothing', false, 'was not asked for want of a connection of ours'),
} as const satisfies Record<ProbeOutcome, OutcomeRow>;

/** The adoption probe waits 15 s for the engine. */
const BOOT_TIMEOUT_MS = 15_000;
/** A trial page may take a GPU a while. */
const TRIAL_TIMEOUT_MS = 120_000;
/** Alive but missing a 3 s probe, a pod gets 15 s ones: those that may end it. */
const SCHEDULED_PATIENCE = 5;
/** For the action on its way out, and the result on its way in. */
const LOST_MARGIN_MS = 10_000;

export function probeTimeoutMs(purpose: ProbePurpose, watch: WatchSettings): number {
  if (purpose === 'boot') return BOOT_TIMEOUT_MS;
  if (purpose === 'trial') return TRIAL_TIMEOUT_MS;
  return purpose === 'scheduled' ? SCHEDULED_PATIENCE * watch.probeTimeoutMs : watch.probeTimeoutMs;
}

/** After this time the question counts as never asked: its action was dropped or its result lost. */
export function lostAfterMs(asked: AskedProbe, watch: WatchSettings): number {
  return asked.askedAtMs + probeTimeoutMs(asked.purpose, watch) + LOST_MARGIN_MS;
}

function row(reached: boolean, verdict: OutcomeRow['verdict'], serves: boolean, words: string): OutcomeRow {
  return { reached, verdict, serves, words };
}
