import { decidePoolSuspension, type Refusal } from '../traffic/pool-suspension.ts';
import type { PoolMemory } from './memory.ts';
import type { Pass } from './pass.ts';
import type { Pod } from './pod-state.ts';
import { viewPod } from './pod-view.ts';

/** As long as `decidePoolSuspension` looks back. */
const WINDOW_MS = 60_000;

/**
 * Keeps the refusals of the last minute, which reports drop once they are answered, and asks with each new one whether the
 * pool is at fault: pods that leave later make the old ones no worse.
 */
export function suspendPages(memory: PoolMemory, pods: readonly Pod[], pass: Pass): PoolMemory {
  const { nowMs } = pass.world;
  const isRecent = ({ atMs }: Refusal): boolean => nowMs - atMs <= WINDOW_MS;
  const seen = pods
    .flatMap((pod) => refusalsOf(pod, pass))
    .filter((refusal) => isRecent(refusal) && !isKnown(refusal, memory.pageRefusals));
  const pageRefusals = [...memory.pageRefusals.filter(isRecent), ...seen];
  if (seen.length === 0) return { ...memory, pageRefusals };
  const refused = new Set(pageRefusals.map((r) => r.podId));
  const servingPods = pods.filter(
    (pod) => pod.state === 'serving' || (pod.id !== null && refused.has(pod.id)),
  ).length;
  const previous = { untilMs: memory.pagesSuspendedUntilMs, pauseMs: memory.pagesPauseMs };
  const suspension = decidePoolSuspension({ refusals: pageRefusals, servingPods, previous, nowMs });
  return {
    ...memory,
    pageRefusals,
    pagesSuspendedUntilMs: suspension.untilMs,
    pagesPauseMs: suspension.pauseMs,
  };
}

/** From the reports as they came in; suspicions that this pass has dealt with are among them. */
function refusalsOf(pod: Pod, pass: Pass): Refusal[] {
  const observed = pass.world.registry.get(pod.key);
  if (observed === undefined || observed.id === null) return [];
  const podId = observed.id;
  return viewPod(observed, pass)
    .news.filter((s) => s.kind === 'refusing')
    .map((s) => ({ podId, document: s.document, atMs: s.atMs }));
}

function isKnown(refusal: Refusal, known: readonly Refusal[]): boolean {
  return known.some(
    (k) => k.podId === refusal.podId && k.atMs === refusal.atMs && k.document === refusal.document,
  );
}
