import type { ListedPod } from './listing.ts';
import type { MergedPod, MergedSuspicion } from './merge-reports.ts';
import type { Pass } from './pass.ts';
import type { Pod } from './pod-state.ts';
import type { Answered } from './pod-transition.ts';
import type { PoolSettings } from './pool-settings.ts';
import { OUTCOMES, type ProbeResult } from './probe.ts';
import type { World } from './world.ts';

/** A pod with everything that was observed about it. */
export interface PodView<P extends Pod = Pod> {
  readonly pod: P;
  readonly pass: Pass;
  readonly nowMs: number;
  readonly settings: PoolSettings | null;
  readonly entry: ListedPod | null;
  readonly report: MergedPod | null;
  /** the result of the question it waits on */
  readonly result: ProbeResult | null;
  /** when it last proved who it is, by a probe's answer or a finished page; 0 = never */
  readonly provenMs: number;
  /** suspicions that nobody has dealt with */
  readonly news: readonly MergedSuspicion[];
}

export function viewPod<P extends Pod>(pod: P, pass: Pass): PodView<P> {
  const { world } = pass;
  const report = reportOf(pod, world);
  const newest = world.probes.get(pod.key) ?? null;
  const asked = 'asked' in pod ? pod.asked : null;
  const isAnswer =
    asked !== null &&
    newest !== null &&
    newest.askedAtMs === asked.askedAtMs &&
    newest.purpose === asked.purpose;
  return {
    pod,
    pass,
    nowMs: world.nowMs,
    settings: world.pools.find((pool) => pool.name === pod.pool) ?? null,
    entry: pass.match.entries.get(pod.key) ?? null,
    report,
    result: isAnswer ? newest : null,
    provenMs: provenMs(pod, world),
    news: (report?.suspects ?? []).filter((s) => s.n > (pod.answered[s.bootId] ?? 0)),
  };
}

/** When a pod last proved that it is there: a probe's answer, or a page finished on it. */
export function provenMs(pod: Pod, world: World): number {
  const result = world.probes.get(pod.key);
  const probed = result !== undefined && OUTCOMES[result.outcome].verdict === 'answer' ? result.endedAtMs : 0;
  return Math.max(probed, reportOf(pod, world)?.lastGoodMs ?? 0);
}

/** When it last answered anything, also that its engine is dead: then the way to it is open. */
export function reachedMs(pod: Pod, world: World): number {
  const result = world.probes.get(pod.key);
  return Math.max(
    provenMs(pod, world),
    result !== undefined && OUTCOMES[result.outcome].reached ? result.endedAtMs : 0,
  );
}

/** Every suspicion in the reports counts as dealt with; workers that are gone are forgotten. */
export function answeredNow(view: PodView): Answered {
  const { reports } = view.pass.world;
  if (reports === null) return view.pod.answered;
  const known = new Set([...reports.fresh, ...reports.stale]);
  const kept = Object.entries(view.pod.answered).filter(([bootId]) => known.has(bootId));
  const answered: Record<string, number> = Object.fromEntries(kept);
  for (const s of view.report?.suspects ?? []) answered[s.bootId] = Math.max(answered[s.bootId] ?? 0, s.n);
  return answered;
}

export function reportOf(pod: Pod, world: World): MergedPod | null {
  if (pod.id === null) return null;
  return world.reports?.pods.get(pod.id) ?? null;
}
