import { ADOPT_RULES, type AdoptRules, HAND_OVER_RULES, type HandOverRules } from '@pagefleet/core';

/** The rules a run is played by: those of core, and what the shells around them must keep to. */
export interface ModelRules {
  readonly handOver: HandOverRules;
  readonly adopt: AdoptRules;
  /** a put that timed out still counts as granted */
  readonly latePutCounts: boolean;
  /** a new primary lists the workers that its predecessor left behind */
  readonly listsOrphans: boolean;
  /** a worker starts with the epoch that the bus names, so that it takes nothing from an earlier controller */
  readonly bornWithEpoch: boolean;
  /** a report says what waits, so that idle width can be lent */
  readonly tellsDemand: boolean;
}

const WHOLE_RULE: ModelRules = {
  handOver: HAND_OVER_RULES,
  adopt: ADOPT_RULES,
  latePutCounts: true,
  listsOrphans: true,
  bornWithEpoch: true,
  tellsDemand: true,
};

/** Each clause of the hand-over rule, and the rule without it. */
const WITHOUT = {
  'the whole width is reserved while a worker has not answered in this epoch': handOver({
    unanswered: (_podWidth, known) => known,
  }),
  'pages in flight stay reserved after a slice is acknowledged': handOver({ acked: (held) => held }),
  'the largest width since the last acknowledgement stays reserved': handOver({
    unacked: (_largest, newest) => newest,
  }),
  'a width grows only into what others do not reserve': handOver({ growthLimit: (podWidth) => podWidth }),
  'silence frees nothing': handOver({
    isGone: (worker, nowMs) => worker.exited || nowMs - worker.heardAtMs > 2_000,
  }),
  'only exit is proof: a worker that leaves still reads': handOver({
    isGone: (worker) => worker.exited || (worker.listed && !worker.listening),
  }),
  'reports of another epoch are ignored': handOver({ isOfEpoch: () => true }),
  'an acknowledgement counts only if exactly equal': handOver({ isAck: (ack) => ack > 0 }),
  'nothing grows before every group of workers is known': handOver({ isPopulationKnown: () => true }),
  'a worker counts as newborn only if an earlier roster lacked it': handOver({ isNewborn: () => true }),
  'a worker ignores slices that are not newer': adopt({ isNewer: () => true }),
  'the first slice of an epoch never makes a width grow': adopt({ widthInNewEpoch: (width) => width }),
  'a put that timed out may still happen': { ...WHOLE_RULE, latePutCounts: false },
  'a new primary lists the orphans of the old one': { ...WHOLE_RULE, listsOrphans: false },
  'a worker is born with the epoch in force': { ...WHOLE_RULE, bornWithEpoch: false },
  'a report tells what waits': { ...WHOLE_RULE, tellsDemand: false },
} as const satisfies Record<string, ModelRules>;

export type ClauseName = keyof typeof WITHOUT;

export const CLAUSES = Object.keys(WITHOUT) as readonly ClauseName[];

export function rulesWithout(clause: ClauseName | undefined): ModelRules {
  return clause === undefined ? WHOLE_RULE : WITHOUT[clause];
}

function handOver(changed: Partial<HandOverRules>): ModelRules {
  return { ...WHOLE_RULE, handOver: { ...HAND_OVER_RULES, ...changed } };
}

function adopt(changed: Partial<AdoptRules>): ModelRules {
  return { ...WHOLE_RULE, adopt: { ...ADOPT_RULES, ...changed } };
}
