import { isDeepStrictEqual } from 'node:util';
import {
  applyPlan,
  decide,
  isEmptyPlan,
  type Plan,
  type Pod,
  type ProbeResult,
  type World,
} from '@pagefleet/core';
import type { AnswerBook } from './answer-book.ts';
import type { SeenListing } from './port-laws.ts';

const FRESH_MS = 180_000;
const WINDOW_MS = 60_000;
const NEVER_SEEN_MS = 900_000;
const ANSWERS = ['ready', 'busy', 'starting', 'page-read', 'page-refused'];

export interface PlanLawsOptions {
  readonly clusterId: string;
  readonly answers: AnswerBook;
  /** complete listings that came in to this life, newest last, as the provider gave them */
  readonly listings: () => readonly SeenListing[];
  /** ids that a complete listing has ever shown to anyone */
  readonly shownEver: ReadonlySet<string>;
  readonly endsTaken: ReadonlySet<string>;
  /** it was set back lately, so that times of before lie ahead */
  readonly isClockBack: () => boolean;
  readonly say: (law: string, sentence: string) => void;
}

/**
 * What holds for every decision of one life of a controller, said again without the code under test: L2–L6 and L8 as
 * far as a plan can break them. It keeps its own books.
 */
export class PlanLaws {
  readonly #options: PlanLawsOptions;
  readonly #judged = new Map<string, number>();
  #plans = 0;

  constructor(options: PlanLawsOptions) {
    this.#options = options;
  }

  judge(world: World, plan: Plan): void {
    this.#plans += 1;
    this.#hear(world);
    const isEmpty = isEmptyPlan(plan);
    if (isEmpty && this.#plans % 8 !== 0) return;
    const after = applyPlan(world, plan, counted());
    this.#again(after);
    if (isEmpty) return;
    this.#bounds(plan);
    this.#actions(world, plan);
    this.#deficit(world, plan);
    this.#gone(world, plan);
    this.#ends(world, plan);
    if (!this.#options.isClockBack()) this.#answers(world, after);
    this.#held(world, plan, after);
  }

  #say(law: string, sentence: string): void {
    this.#options.say(law, sentence);
  }

  /** All answers first: whoever answered is a witness for every failure that is looked at with it. */
  #hear(world: World): void {
    const { answers } = this.#options;
    const failed: [Pod, ProbeResult][] = [];
    for (const [key, { outcome, endedAtMs }] of world.probes) {
      if (ANSWERS.includes(outcome)) answers.answered(key, endedAtMs);
    }
    for (const pod of world.registry.values()) {
      answers.answered(pod.key, pod.id === null ? 0 : (world.reports?.pods.get(pod.id)?.lastGoodMs ?? 0));
      const result = world.probes.get(pod.key);
      if (result === undefined || this.#judged.get(pod.key) === result.askedAtMs) continue;
      this.#judged.set(pod.key, result.askedAtMs);
      const isFailure = !ANSWERS.includes(result.outcome) && result.outcome !== 'ours';
      if (result.purpose === 'scheduled' && isFailure) failed.push([pod, result]);
    }
    for (const [pod, { endedAtMs }] of failed) {
      if (this.#isWitnessed(pod, world)) answers.failed(pod.key, endedAtMs);
    }
  }

  /** Somebody else could answer us lately. */
  #isWitnessed(pod: Pod, world: World): boolean {
    const sinceMs = world.nowMs - WINDOW_MS;
    if (this.#options.answers.hasOtherAnswered(pod.key, sinceMs)) return true;
    const others = [...world.registry.values()].filter((p) => p.key !== pod.key);
    const isLone = !others.some((p) => p.state === 'serving' || p.state === 'quarantined');
    return isLone && (world.providerAnsweredMs ?? 0) >= sinceMs;
  }

  /** L3 */
  #again(after: World): void {
    const again = decide(after);
    if (!isEmptyPlan(again)) {
      const what = [...again.actions.map((a) => a.reason), ...again.transitions.map((t) => t.reason)];
      this.#say('L3', `the same instant decided again is not empty: ${what.join('; ')}`);
    } else if (!isDeepStrictEqual(again.memory, after.memory)) {
      this.#say('L3', 'the same instant decided again has learnt something else');
    }
  }

  /** L2, for what the plan itself says of caps and floors. */
  #bounds(plan: Plan): void {
    for (const cap of plan.caps.pools.values()) {
      if (cap.floor > cap.effective)
        this.#say('L2', `a floor of ${cap.floor} above a cap of ${cap.effective}`);
    }
  }

  /** L4 */
  #actions(world: World, plan: Plan): void {
    const keys = plan.actions.flatMap((action) => (action.kind === 'rent' ? [] : [action.podKey]));
    if (new Set(keys).size !== keys.length) this.#say('L4', 'two actions for one pod');
    if (plan.wakeAtMs <= world.nowMs) this.#say('L3', 'a wake-up that is not in the future');
    for (const alarm of plan.alarms) if (alarm.startsWith('fault of ours:')) this.#say('L4', alarm);
  }

  /** L4: capacity counts every pod that has not been sent away, also those set aside. */
  #deficit(world: World, plan: Plan): void {
    if (!plan.actions.some((action) => action.kind === 'rent')) return;
    if (world.listing.newest === null || world.reports === null)
      this.#say('L5', 'rented without a listing or without reports');
    const pods = [...applyPlan(world, { ...plan, actions: [] }, counted()).registry.values()];
    for (const { name, width, minPods } of world.pools) {
      if (!plan.actions.some((action) => action.kind === 'rent' && action.pool === name)) continue;
      const capacity = pods.filter((pod) => pod.pool === name && isCapacity(pod)).length;
      const work = world.reports?.pools.get(name);
      const demand = work === undefined ? 0 : work.inflight + work.waiting + work.unsplit + work.refused;
      const leases = world.leases.filter((lease) => lease.pool === name && lease.expiresAtMs > world.nowMs);
      const floor = Math.max(minPods, ...leases.map((lease) => lease.pods));
      if (demand <= capacity * width && capacity >= floor)
        this.#say('L4', `${name}: rented for ${demand} pages with ${capacity} pods and a floor of ${floor}`);
    }
  }

  /** L5: gone is what two complete listings in a row lack, the newer of them fresh, of a pod that some listing has shown. */
  #gone(world: World, plan: Plan): void {
    const listings = this.#options.listings();
    const newest = listings.at(-1);
    const previous = listings.findLast((one) => one.endedAtMs <= (newest?.startedAtMs ?? 0));
    for (const { podKey, event } of plan.transitions) {
      const pod = world.registry.get(podKey);
      if (event.kind !== 'gone' || pod === undefined) continue;
      if (newest === undefined || previous === undefined)
        this.#say('L5', `${nameOf(pod)} gone without two listings`);
      else if (isIn(pod, newest) || isIn(pod, previous))
        this.#say('L5', `${nameOf(pod)} gone although listed`);
      else if (world.nowMs - newest.endedAtMs > FRESH_MS)
        this.#say('L5', `${nameOf(pod)} gone by a stale listing`);
      else if (!this.#wasShown(pod) && newest.startedAtMs - pod.createdAtMs < NEVER_SEEN_MS)
        this.#say('L5', `${nameOf(pod)} gone, and no listing has ever shown it`);
    }
  }

  #wasShown(pod: Pod): boolean {
    const { shownEver, endsTaken } = this.#options;
    return pod.id !== null && (shownEver.has(pod.id) || endsTaken.has(pod.id));
  }

  /** L5, L6: what a failed probe may end. */
  #ends(world: World, plan: Plan): void {
    const newest = this.#options.listings().at(-1);
    for (const { podKey, event, to } of plan.transitions) {
      const pod = world.registry.get(podKey);
      if (pod === undefined || to !== 'terminating' || event.kind !== 'end') continue;
      const fails = this.#options.answers.failsOf(pod.key);
      if (event.why === 'unreachable' && fails < 3)
        this.#say('L6', `${nameOf(pod)} ended after ${fails} failed scheduled probes`);
      const isByProbe = event.why === 'unreachable' || event.why === 'boot-failed';
      const isApiUp = (newest?.endedAtMs ?? 0) >= world.nowMs - WINDOW_MS;
      const saidSo = world.probes.get(pod.key)?.outcome === 'unfit';
      if (isByProbe && !this.#options.isClockBack() && !isApiUp && !saidSo && !this.#isWitnessed(pod, world))
        this.#say('L5', `${nameOf(pod)} ended by probe while nobody answered`);
    }
  }

  /** L6: an answer restores an unreachable pod at once, a trial page alone a refusing one. */
  #answers(before: World, after: World): void {
    for (const pod of after.registry.values()) {
      const was = before.registry.get(pod.key);
      if (was?.state !== 'quarantined') continue;
      const result = before.probes.get(pod.key);
      const suspects = (pod.id === null ? undefined : before.reports?.pods.get(pod.id)?.suspects) ?? [];
      const isQuiet = suspects.every((s) => s.n <= (was.answered[s.bootId] ?? 0));
      const isAnswer = result !== undefined && ANSWERS.includes(result.outcome);
      const lastGoodMs = pod.id === null ? 0 : (before.reports?.pods.get(pod.id)?.lastGoodMs ?? 0);
      const hasAnswered = Math.max(isAnswer ? result.endedAtMs : 0, lastGoodMs) > was.sinceMs;
      const isAside = pod.state === 'quarantined';
      if (was.reason === 'unreachable' && was.owesTrialMs === null && isQuiet && hasAnswered && isAside)
        this.#say('L6', `${nameOf(pod)} answered and was not restored`);
      if (was.reason === 'refusing' && pod.state === 'serving' && result?.outcome !== 'page-read')
        this.#say('L6', `${nameOf(pod)} restored without a trial page`);
    }
  }

  /** L8: once a sweep was made, every pod of ours in the listing is held; nobody else's ever is. */
  #held(world: World, plan: Plan, after: World): void {
    const { sweptAtMs } = plan.memory;
    if (sweptAtMs !== plan.nowMs || world.memory.sweptAtMs === sweptAtMs) return;
    const ids = new Set([...after.registry.values()].map((pod) => pod.id));
    const forgotten = new Set(plan.forget);
    for (const { id, mark } of world.listing.newest?.pods ?? []) {
      if (mark?.clusterId !== this.#options.clusterId || ids.has(id)) continue;
      if (!forgotten.has(mark.podKey)) this.#say('L8', `${id} is listed and not held after a sweep`);
    }
  }
}

function isCapacity(pod: Pod): boolean {
  if (pod.state === 'booting') return pod.origin === 'rented';
  return pod.state === 'renting' || pod.state === 'serving' || pod.state === 'quarantined';
}

function isIn(pod: Pod, { entries }: SeenListing): boolean {
  return entries.some((entry) => (pod.id === null ? entry.mark?.podKey === pod.key : entry.id === pod.id));
}

function nameOf(pod: Pod): string {
  return pod.id ?? pod.name;
}

function counted(): (pool: string) => { key: string; name: string } {
  let n = 0;
  return () => {
    n += 1;
    return { key: `law-${n}`, name: `law-${n}` };
  };
}
