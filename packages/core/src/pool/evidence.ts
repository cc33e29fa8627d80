import type { Pass } from './pass.ts';
import type { Pod } from './pod-state.ts';
import { provenMs, reachedMs } from './pod-view.ts';
import { OUTCOMES } from './probe.ts';
import { seconds } from './step.ts';
import { evidenceWindowMs } from './watch.ts';
import type { World } from './world.ts';

/**
 * Whether a failed probe of this pod rather speaks against us: null, or the sentence that says so.
 *
 * - Pods that fail together, two or more and at least half of those that served, share a cause, and that is likelier our
 *   network than all of them. (One of two is not "together": else a pair could never lose a pod.)
 * - Someone must have answered lately (a minute by default): another pod, for a lone pod the provider's API, or the pod itself
 *   when it says that its engine is dead.
 *
 * A pod is judged by the registry that the pass began with, so that the order of pods does not matter. `notBeforeMs`: what
 * was answered earlier proves nothing about the time that is judged.
 */
export function faultOfOurs(pod: Pod, world: World, notBeforeMs = 0): string | null {
  const { registry, nowMs } = world;
  const ready = [...registry.values()].filter((p) => p.state === 'serving' || p.state === 'quarantined');
  const failed = ready.filter((p) => isUnreachable(p, world));
  if (failed.length >= 2 && failed.length * 2 >= ready.length) {
    return `${failed.length} of ${ready.length} pods stopped answering together`;
  }
  const sinceMs = Math.max(notBeforeMs, nowMs - evidenceWindowMs(world.watch));
  if (saysItself(pod, world, sinceMs)) return null;
  const others = [...registry.values()].filter((p) => p.key !== pod.key && p.state !== 'terminated');
  if (others.some((p) => reachedMs(p, world) >= sinceMs)) return null;
  if (ready.some((p) => p.key !== pod.key))
    return `no other pod answered in the last ${seconds(nowMs - sinceMs)}`;
  const answeredMs = Math.max(world.providerAnsweredMs ?? 0, world.listing.newest?.endedAtMs ?? 0);
  if (answeredMs >= sinceMs) return null;
  return `the provider's API did not answer in the last ${seconds(nowMs - sinceMs)} either`;
}

/** The same for the fleet: the first sentence that holds for a pod which does not answer. Then nothing is rented. */
export function fleetFaultOfOurs(pass: Pass): string | null {
  for (const pod of pass.registry.values()) {
    if (!isUnreachable(pod, pass.world)) continue;
    const fault = faultOfOurs(pod, { ...pass.world, registry: pass.registry });
    if (fault !== null) return fault;
  }
  return null;
}

/** One pod or a tenth of the pool may be ended by probe in a minute. */
export function mayEndByProbe(pool: string, pass: Pass): boolean {
  const size = [...pass.registry.values()].filter((p) => p.pool === pool && p.state !== 'terminated').length;
  const { nowMs } = pass.world;
  const recent = (pass.endsByProbeMs.get(pool) ?? []).filter((atMs) => nowMs - atMs < 60_000);
  return recent.length < Math.max(1, Math.floor(size / 10));
}

/** Its newest answer, not an older one: what it said before it fell silent proves nothing about the way to it now. */
function saysItself(pod: Pod, world: World, sinceMs: number): boolean {
  const newest = world.probes.get(pod.key);
  return newest !== undefined && OUTCOMES[newest.outcome].reached && newest.endedAtMs >= sinceMs;
}

function isUnreachable(pod: Pod, world: World): boolean {
  return pod.state === 'quarantined' && pod.reason === 'unreachable' && provenMs(pod, world) <= pod.sinceMs;
}
