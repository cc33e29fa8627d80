import type { HandOverState, WorkerKnowledge } from './hand-over-state.ts';

/**
 * The clauses of DESIGN 6, Hand-over, as the controller applies them. They are a table so that the seeded model can take
 * one away and show that pages overrun a pod without it; everything else passes `HAND_OVER_RULES`.
 */
export interface HandOverRules {
  /** does a report of that epoch count for this controller? */
  readonly isOfEpoch: (reportEpoch: number, epoch: number) => boolean;
  /** does this acknowledgement say that the newest slice is in force? */
  readonly isAck: (ack: number, newestRev: number) => boolean;
  /** is it certain that no earlier controller ever gave this worker width? */
  readonly isNewborn: (groupHeardBefore: boolean, inFirstRoster: boolean) => boolean;
  /** is it proven that this worker sends nothing any more? */
  readonly isGone: (worker: WorkerKnowledge, nowMs: number) => boolean;
  /** is every worker known that may hold width? */
  readonly isPopulationKnown: (state: HandOverState) => boolean;
  /** what a worker may still use of a pod until it has answered in this epoch … */
  readonly unanswered: (podWidth: number, known: number) => number;
  /** … once it acknowledged the newest slice … */
  readonly acked: (held: number, inflight: number) => number;
  /** … and while it has not */
  readonly unacked: (largestSinceAck: number, newest: number) => number;
  /** up to where a width may grow */
  readonly growthLimit: (podWidth: number, reservedByOthers: number) => number;
}

/** A worker that no roster lists is given up after this silence: no page of its may run that long (slot age limit). */
const UNLISTED_SILENCE_MS = 900_000;

export const HAND_OVER_RULES: HandOverRules = {
  isOfEpoch: (reportEpoch, epoch) => reportEpoch === epoch,
  isAck: (ack, newestRev) => ack === newestRev,
  isNewborn: (groupHeardBefore, inFirstRoster) => groupHeardBefore && !inFirstRoster,
  isGone: (worker, nowMs) =>
    worker.exited || (!worker.listed && nowMs - worker.heardAtMs > UNLISTED_SILENCE_MS),
  isPopulationKnown: (state) => state.groups.every((group) => state.rosters.has(group)),
  unanswered: (podWidth) => podWidth,
  acked: (held, inflight) => Math.max(held, inflight),
  unacked: (largestSinceAck) => largestSinceAck,
  growthLimit: (podWidth, reservedByOthers) => podWidth - reservedByOthers,
};
