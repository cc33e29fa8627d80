import type { Caps } from './caps.ts';
import type { Memory } from './memory.ts';
import type { Offer } from './offer.ts';
import type { EndReason, Pod, PodStateName } from './pod-state.ts';
import type { PodEvent } from './pod-transition.ts';
import type { ProbePurpose } from './probe.ts';

/** A change of one pod, to be applied only while the pod is still at `revision`. */
export interface PlannedTransition {
  readonly podKey: string;
  readonly pool: string;
  readonly revision: number;
  readonly from: PodStateName;
  readonly to: PodStateName;
  readonly event: PodEvent;
  /** belongs in the journal: it changes the state or what the pod is, not only when it is asked next */
  readonly durable: boolean;
  readonly reason: string;
}

/**
 * A pod of ours from the listing that enters the registry, through `enterRegistry` only. It enters as the pass leaves it,
 * so its own steps are not among the transitions.
 */
export interface Adoption {
  readonly pod: Pod;
  readonly reason: string;
}

/**
 * What the shell does outside. `revision` is the pod's once the plan's transitions are applied; the action is dropped if
 * the pod has moved on since, or if it is older than 30 s.
 */
export type PodAction =
  | {
      readonly kind: 'probe';
      readonly podKey: string;
      readonly revision: number;
      readonly purpose: Exclude<ProbePurpose, 'trial'>;
      readonly askedAtMs: number;
      readonly timeoutMs: number;
      readonly reason: string;
    }
  /** sends one small page of our own */
  | {
      readonly kind: 'trial';
      readonly podKey: string;
      readonly revision: number;
      readonly askedAtMs: number;
      readonly timeoutMs: number;
      readonly reason: string;
    }
  /** looks the name up, at best by a listing */
  | {
      readonly kind: 'resolve';
      readonly podKey: string;
      readonly revision: number;
      readonly name: string;
      readonly reason: string;
    }
  | {
      readonly kind: 'terminate';
      readonly podKey: string;
      readonly revision: number;
      readonly id: string;
      readonly why: EndReason;
      readonly reason: string;
    };

/** One pod to buy. Key and name are the shell's (`openPod`): they are random. */
export interface RentAction {
  readonly kind: 'rent';
  readonly pool: string;
  readonly width: number;
  readonly configHash: string;
  readonly bootDeadlineMs: number;
  /** null = the provider has one kind of pod */
  readonly offer: Offer | null;
  readonly priceUsdPerHour: number | null;
  readonly reason: string;
}

export type Action = PodAction | RentAction;

/** What one pool wanted and what it got, one line of `plan` and `why`. */
export interface PoolNote {
  readonly pool: string;
  readonly demand: number;
  readonly capacity: number;
  readonly rents: number;
  readonly drains: number;
  readonly note: string;
}

/** The result of a pass; its fields are the log line. */
export interface Plan {
  readonly nowMs: number;
  readonly actions: readonly Action[];
  /** in order; one pod may appear more than once, each at the revision the one before gave it */
  readonly transitions: readonly PlannedTransition[];
  readonly adoptions: readonly Adoption[];
  /** keys of terminated pods that leave the registry, once the transitions are applied */
  readonly forget: readonly string[];
  readonly caps: Caps;
  readonly pools: readonly PoolNote[];
  /** for the operator's eye: something is wrong that the plan cannot mend */
  readonly alarms: readonly string[];
  readonly memory: Memory;
  /** the next pass is wanted then, if nothing happens before */
  readonly wakeAtMs: number;
  /** a complete listing that began no earlier than this is wanted then */
  readonly listingDueMs: number;
}

/** Nothing to do, nothing changes. */
export function isEmptyPlan(plan: Plan): boolean {
  return (
    plan.actions.length === 0 &&
    plan.transitions.length === 0 &&
    plan.adoptions.length === 0 &&
    plan.forget.length === 0
  );
}
