import { isDeepStrictEqual } from 'node:util';
import {
  applyPlan,
  type CompleteListing,
  decide,
  isEmptyPlan,
  type Plan,
  type Pod,
  type ProbeResult,
  type World,
} from '@pagefleet/core';
import { CLUSTER, POOL } from './pool-model.ts';

const FRESH_MS = 180_000;
const WINDOW_MS = 60_000;
const ANSWERS = ['ready', 'busy', 'page-read', 'page-refused'];

/**
 * The laws of DESIGN's house style, said again without the code under test: an oracle keeps its own record of listings and
 * answers and judges every plan by it. Each violation is one sentence.
 */
export class PoolOracle {
  readonly violations: string[] = [];
  /** pods that some listing has shown, of any life of the controller */
  readonly #shown = new Set<string>();
  /** when scheduled probes failed since the last answer, by pod key */
  readonly #fails = new Map<string, number[]>();
  readonly #judged = new Map<string, number>();
  readonly #answeredMs = new Map<string, number>();

  check(world: World, plan: Plan, listings: readonly CompleteListing[]): void {
    const newest = listings.at(-1);
    for (const entry of newest?.pods ?? []) this.#shown.add(entry.id);
    this.#hear(world);
    const after = applyPlan(world, plan, counted());
    this.#caps(world, plan);
    this.#stable(after);
    this.#actions(world, plan);
    this.#gone(world, plan, listings);
    this.#ends(world, plan, newest);
    this.#answers(world, after);
    this.#held(after, plan, newest);
  }

  #say(law: string, sentence: string): void {
    this.violations.push(`${law}: ${sentence}`);
  }

  /** All answers first: whoever answered in this step is a witness for every failure in it. */
  #hear(world: World): void {
    const failed: [Pod, ProbeResult][] = [];
    for (const [key, { outcome, endedAtMs }] of world.probes) {
      if (ANSWERS.includes(outcome)) this.#answer(key, endedAtMs);
    }
    for (const pod of world.registry.values()) {
      this.#answer(pod.key, pod.id === null ? 0 : (world.reports?.pods.get(pod.id)?.lastGoodMs ?? 0));
      const result = world.probes.get(pod.key);
      if (result === undefined || this.#judged.get(pod.key) === result.askedAtMs) continue;
      this.#judged.set(pod.key, result.askedAtMs);
      const isFailure = !ANSWERS.includes(result.outcome) && result.outcome !== 'ours';
      if (result.purpose === 'scheduled' && isFailure) failed.push([pod, result]);
    }
    for (const [pod, { endedAtMs }] of failed) {
      if (this.#isWitnessed(pod, world)) this.#fails.set(pod.key, [...this.#failsOf(pod.key), endedAtMs]);
    }
  }

  #answer(key: string, atMs: number): void {
    if (atMs <= (this.#answeredMs.get(key) ?? 0)) return;
    this.#answeredMs.set(key, atMs);
    this.#fails.set(
      key,
      this.#failsOf(key).filter((failedMs) => failedMs > atMs),
    );
  }

  #failsOf(key: string): number[] {
    return this.#fails.get(key) ?? [];
  }

  /** Someone else could answer us lately. */
  #isWitnessed(pod: Pod, world: World): boolean {
    const sinceMs = world.nowMs - WINDOW_MS;
    if ([...this.#answeredMs].some(([key, atMs]) => key !== pod.key && atMs >= sinceMs)) return true;
    const others = [...world.registry.values()].filter((p) => p.key !== pod.key);
    const isLone = !others.some((p) => p.state === 'serving' || p.state === 'quarantined');
    return isLone && (world.providerAnsweredMs ?? 0) >= sinceMs;
  }

  #caps(world: World, plan: Plan): void {
    const rents = plan.actions.filter((a) => a.kind === 'rent').length;
    const operator = world.pools[0]?.maxPods ?? 0;
    const cap = Math.min(operator, ...world.leases.map((lease) => lease.maxPods ?? operator));
    const ids = new Set([...world.registry.values()].map((pod) => pod.id));
    const keys = new Set(world.registry.keys());
    const strangers = (world.listing.newest?.pods ?? []).filter(
      (p) => p.mark?.clusterId === CLUSTER && !ids.has(p.id) && !keys.has(p.mark.podKey),
    );
    const left = new Set(plan.transitions.filter((t) => t.to === 'terminated').map((t) => t.podKey));
    const existing =
      [...world.registry.values()].filter((pod) => pod.state !== 'terminated' && !left.has(pod.key)).length +
      strangers.length;
    if (rents > 0 && rents + existing > cap)
      this.#say('L1', `${rents} rents beside ${existing} existing pods under a cap of ${cap}`);
    if (operator === 0 && rents > 0) this.#say('L2', 'the operator said 0');
    const said = plan.caps.pools.get(POOL.name);
    if (said !== undefined && (said.floor > said.effective || said.countCap > operator))
      this.#say('L2', `floor ${said.floor}, effective ${said.effective}`);
    if (rents > 0 && (world.listing.newest === null || world.reports === null))
      this.#say('L5', 'rented without a listing or reports');
    this.#deficit(world, plan, rents);
  }

  /** Capacity counts every pod that has not been sent away, also those set aside. */
  #deficit(world: World, plan: Plan, rents: number): void {
    if (rents === 0) return;
    const after = [...applyPlan(world, { ...plan, actions: [] }, counted()).registry.values()];
    const capacity = after.filter(
      (pod) =>
        pod.state === 'renting' ||
        pod.state === 'serving' ||
        pod.state === 'quarantined' ||
        (pod.state === 'booting' && pod.origin === 'rented'),
    );
    const work = world.reports?.pools.get(POOL.name);
    const demand = work === undefined ? 0 : work.inflight + work.waiting + work.unsplit + work.refused;
    const floor = Math.max(POOL.minPods, ...world.leases.map((lease) => lease.pods));
    if (demand <= capacity.length * POOL.width && capacity.length >= floor)
      this.#say(
        'L4',
        `rented for a demand of ${demand} with ${capacity.length} pods and a floor of ${floor}`,
      );
  }

  #stable(after: World): void {
    const again = decide(after);
    if (!isEmptyPlan(again)) {
      const what = [...again.actions.map((a) => a.reason), ...again.transitions.map((t) => t.reason)];
      this.#say('L3', `the second plan is not empty: ${what.join('; ')}`);
    } else if (!isDeepStrictEqual(again.memory, after.memory))
      this.#say('L3', 'the second plan has learnt something else');
  }

  #actions(world: World, plan: Plan): void {
    const keys = plan.actions.flatMap((a) => (a.kind === 'rent' ? [] : [a.podKey]));
    if (new Set(keys).size !== keys.length) this.#say('L4', 'two actions for one pod');
    if (plan.wakeAtMs <= world.nowMs) this.#say('wake', 'a wake-up that is not in the future');
    for (const alarm of plan.alarms) if (alarm.startsWith('fault of ours')) this.#say('states', alarm);
  }

  #gone(world: World, plan: Plan, listings: readonly CompleteListing[]): void {
    const [newest, previous] = [listings.at(-1), listings.at(-2)];
    for (const t of plan.transitions.filter((p) => p.event.kind === 'gone')) {
      const pod = world.registry.get(t.podKey);
      if (pod === undefined) continue;
      if (newest === undefined || previous === undefined)
        this.#say('L5', `${t.podKey} gone without two listings`);
      else if (isListed(pod, newest) || isListed(pod, previous))
        this.#say('L5', `${t.podKey} gone although listed`);
      else if (world.nowMs - newest.endedAtMs > FRESH_MS)
        this.#say('L5', `${t.podKey} gone by a stale listing`);
      else if (!this.#shown.has(pod.id ?? '') && newest.startedAtMs - pod.createdAtMs < 900_000)
        this.#say('L5', `${t.podKey} gone, never seen`);
    }
  }

  #ends(world: World, plan: Plan, newest: CompleteListing | undefined): void {
    for (const t of plan.transitions) {
      const pod = world.registry.get(t.podKey);
      if (pod === undefined || t.to !== 'terminating' || t.event.kind !== 'end') continue;
      if (t.event.why === 'unreachable' && this.#failsOf(pod.key).length < 3)
        this.#say('L6', `${t.podKey} ended after ${this.#failsOf(pod.key).length} failed scheduled probes`);
      const isByProbe = t.event.why === 'unreachable' || t.event.why === 'boot-failed';
      const isApiUp = (newest?.endedAtMs ?? 0) >= world.nowMs - WINDOW_MS;
      if (isByProbe && !this.#isWitnessed(pod, world) && !isApiUp)
        this.#say('L5', `${t.podKey} ended by probe while nobody answered`);
    }
  }

  #answers(before: World, after: World): void {
    for (const pod of after.registry.values()) {
      const was = before.registry.get(pod.key);
      if (was?.state !== 'quarantined') continue;
      const result = before.probes.get(pod.key);
      const suspects = (pod.id === null ? undefined : before.reports?.pods.get(pod.id)?.suspects) ?? [];
      const isQuiet = suspects.every((s) => s.n <= (was.answered[s.bootId] ?? 0));
      const hasAnswered = (this.#answeredMs.get(pod.key) ?? 0) > was.sinceMs;
      const isSetAside = pod.state === 'quarantined';
      if (was.reason === 'unreachable' && was.owesTrialMs === null && isQuiet && hasAnswered && isSetAside)
        this.#say('L6', `${pod.key} answered and was not restored`);
      if (was.reason === 'refusing' && pod.state === 'serving' && result?.outcome !== 'page-read')
        this.#say('L6', `${pod.key} restored without a trial page`);
    }
  }

  /** After the first sweep of a life, and whenever one was made, every pod of ours in the listing is held, once. */
  #held(after: World, plan: Plan, newest: CompleteListing | undefined): void {
    const ids = [...after.registry.values()].flatMap((pod) => (pod.id === null ? [] : [pod.id]));
    if (new Set(ids).size !== ids.length) this.#say('L8', 'a pod is held twice');
    if (ids.includes('theirs')) this.#say('L8', 'another cluster’s pod is held');
    if (plan.memory.sweptAtMs !== plan.nowMs) return;
    for (const entry of newest?.pods ?? []) {
      if (entry.mark?.clusterId === CLUSTER && !ids.includes(entry.id))
        this.#say('L8', `${entry.id} is listed and not held`);
    }
  }
}

function isListed(pod: Pod, listing: CompleteListing): boolean {
  return listing.pods.some((entry) => entry.id === pod.id || entry.mark?.podKey === pod.key);
}

function counted(): (pool: string) => { key: string; name: string } {
  let n = 0;
  return () => {
    n += 1;
    return { key: `oracle-${n}`, name: `oracle-${n}` };
  };
}
