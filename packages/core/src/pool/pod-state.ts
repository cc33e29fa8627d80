import type { OfferKey, RefusalFault } from './offer.ts';
import type { AskedProbe } from './probe.ts';

/**
 * renting → booting → serving ⇄ quarantined
 *                     serving → draining → terminating → terminated
 *
 * A pod counts against the cap, and as money, from `renting` until it is `terminated` (L1).
 */
interface PodCommon {
  /** random, chosen by us, never changes; the registry's key and what the pod's token is made from */
  readonly key: string;
  readonly name: string;
  readonly pool: string;
  readonly width: number;
  /** `http://host:port` once known */
  readonly url: string | null;
  /** what it bills, or was quoted at; null = without a price */
  readonly priceUsdPerHour: number | null;
  /** what it was rented as; null = nothing was chosen, or not known */
  readonly offer: OfferKey | null;
  /** when it was asked for, or what the provider says of an adopted one */
  readonly createdAtMs: number;
  readonly bootDeadlineMs: number;
  readonly configHash: string;
  /** when a listing first showed it; null = never seen (L5) */
  readonly shownAtMs: number | null;
  /** suspicions already dealt with, per worker incarnation; what slices tell back as `answeredSuspect` */
  readonly answered: Readonly<Record<string, number>>;
  /** counts up with every change */
  readonly revision: number;
}

export interface RentingPod extends PodCommon {
  readonly state: 'renting';
  readonly id: null;
  readonly sinceMs: number;
  /**
   * `uncalled`: the paid call has not been begun, so that a controller that dies now has bought nothing. `ambiguous`: the
   * call's answer is lost, so the name is looked up and nothing is rented in its place
   */
  readonly answer: 'uncalled' | 'pending' | 'ambiguous';
  readonly nextLookMs: number;
}

export interface BootingPod extends PodCommon {
  readonly state: 'booting';
  readonly id: string;
  readonly sinceMs: number;
  readonly deadlineMs: number;
  /** a boot that is not in our journal counts and bills but is no capacity until it answers */
  readonly origin: 'rented' | 'adopted';
  readonly nextProbeMs: number;
  readonly asked: AskedProbe | null;
}

export interface ServingPod extends PodCommon {
  readonly state: 'serving';
  readonly id: string;
  readonly sinceMs: number;
  readonly nextProbeMs: number;
  readonly asked: AskedProbe | null;
}

export interface UnreachablePod extends PodCommon {
  readonly state: 'quarantined';
  readonly reason: 'unreachable';
  readonly id: string;
  readonly sinceMs: number;
  readonly nextProbeMs: number;
  readonly asked: AskedProbe | null;
  /** scheduled probes that failed in a row while we could reach others */
  readonly strikes: number;
  /** it also refused a page: an answer makes it `refusing` with this backoff, only a trial page makes it serve (L6) */
  readonly owesTrialMs: number | null;
  readonly detail: string;
}

export interface RefusingPod extends PodCommon {
  readonly state: 'quarantined';
  readonly reason: 'refusing';
  readonly id: string;
  readonly sinceMs: number;
  /** when the next trial page goes out */
  readonly nextProbeMs: number;
  readonly asked: AskedProbe | null;
  readonly backoffMs: number;
  readonly detail: string;
}

export interface DrainingPod extends PodCommon {
  readonly state: 'draining';
  readonly id: string;
  readonly sinceMs: number;
  readonly deadlineMs: number;
  readonly why: EndReason;
}

export interface TerminatingPod extends PodCommon {
  readonly state: 'terminating';
  readonly id: string;
  readonly sinceMs: number;
  readonly why: EndReason;
  readonly askedAtMs: number;
  readonly asks: number;
}

export interface TerminatedPod extends PodCommon {
  readonly state: 'terminated';
  readonly id: string | null;
  readonly atMs: number;
  readonly why: EndReason;
  /** of a refused rent */
  readonly fault?: RefusalFault;
}

export type QuarantinedPod = UnreachablePod | RefusingPod;

export type Pod =
  | RentingPod
  | BootingPod
  | ServingPod
  | QuarantinedPod
  | DrainingPod
  | TerminatingPod
  | TerminatedPod;

export type PodStateName = Pod['state'];

/** Why a pod ends. `refused` and `not-sent`: nothing was bought. `gone`, `never-seen`: the provider no longer lists it. */
export type EndReason =
  | 'refused'
  | 'not-sent'
  | 'boot-failed'
  | 'unreachable'
  | 'refusing'
  | 'idle'
  | 'over-cap'
  | 'over-budget'
  | 'overpriced'
  | 'too-old'
  | 'stopping'
  | 'exited'
  | 'unknown-pool'
  | 'duplicate'
  | 'gone'
  | 'never-seen';

/** Exists as far as we know: it counts and bills. */
export function isExisting(pod: Pod): boolean {
  return pod.state !== 'terminated';
}

/** Exists and is not on its way out. */
export function isStaying(pod: Pod): boolean {
  return isExisting(pod) && pod.state !== 'draining' && pod.state !== 'terminating';
}

/** Weighed against demand, and towards the floor: also while set aside, never a foreign boot. */
export function isCapacity(pod: Pod): boolean {
  return isStaying(pod) && !(pod.state === 'booting' && pod.origin === 'adopted');
}

/** Asked for by us and not up yet. */
export function isOurBoot(pod: Pod): boolean {
  return pod.state === 'renting' || (pod.state === 'booting' && pod.origin === 'rented');
}

/** Of a pod that was booting: these ends say that it did not come up, the others that it was not wanted any more. */
export function isFailureToBoot(why: EndReason): boolean {
  return ['boot-failed', 'exited', 'gone', 'never-seen'].includes(why);
}
