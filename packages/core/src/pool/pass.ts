import type { ListingMatch } from './adopt.ts';
import type { PlannedTransition, PodAction } from './plan.ts';
import type { Pod } from './pod-state.ts';
import { type PodEvent, transition } from './pod-transition.ts';
import { probeTimeoutMs } from './probe.ts';
import type { Effect, Step } from './step.ts';
import type { World } from './world.ts';

export interface PodChange {
  readonly before: Pod;
  readonly after: Pod;
}

/** One pass at work: the world as observed, the registry as the pass has changed it so far, and what came of it. */
export interface Pass {
  readonly world: World;
  readonly match: ListingMatch;
  readonly registry: Map<string, Pod>;
  readonly changes: PodChange[];
  readonly transitions: PlannedTransition[];
  /** by pod key, so that no pod can have two (L4) */
  readonly actions: Map<string, PodAction>;
  /** ends by probe of the last minute, this pass included, by pool */
  readonly endsByProbeMs: Map<string, readonly number[]>;
  readonly alarms: string[];
}

/** The only way a pass changes a pod. An illegal step changes nothing and raises an alarm: it is a fault of ours. */
export function applyStep(pass: Pass, pod: Pod, step: Step): Pod | null {
  const { nowMs } = pass.world;
  const result = transition(pod, step.event, nowMs);
  if (!result.legal) {
    pass.alarms.push(
      `fault of ours: "${step.event.kind}" was decided for pod ${pod.id ?? pod.name}, which is ${pod.state}`,
    );
    return null;
  }
  const after = result.pod;
  pass.registry.set(pod.key, after);
  pass.changes.push({ before: pod, after });
  pass.transitions.push({
    podKey: pod.key,
    pool: pod.pool,
    revision: pod.revision,
    from: pod.state,
    to: after.state,
    event: step.event,
    durable: isDurable(step.event, pod, after),
    reason: step.reason,
  });
  if (step.isEndByProbe === true) {
    pass.endsByProbeMs.set(pod.pool, [...(pass.endsByProbeMs.get(pod.pool) ?? []), nowMs]);
  }
  setAction(pass, after, step);
  return after;
}

/** A question that the pod no longer waits on is not asked; any other action outlives later steps at the new revision. */
function setAction(pass: Pass, pod: Pod, step: Step): void {
  const held = pass.actions.get(pod.key);
  if (step.effect !== undefined) {
    pass.actions.set(pod.key, action(step.effect, pod, step.reason, pass.world));
  } else if (held !== undefined && isQuestion(held) && !('asked' in pod && pod.asked !== null)) {
    pass.actions.delete(pod.key);
  } else if (held !== undefined) {
    pass.actions.set(pod.key, { ...held, revision: pod.revision });
  }
}

function isQuestion(held: PodAction): boolean {
  return held.kind === 'probe' || held.kind === 'trial';
}

function action(effect: Effect, pod: Pod, reason: string, { nowMs, watch }: World): PodAction {
  const base = { podKey: pod.key, revision: pod.revision, reason };
  switch (effect.kind) {
    case 'probe':
      return {
        ...base,
        kind: 'probe',
        purpose: effect.purpose,
        askedAtMs: nowMs,
        timeoutMs: probeTimeoutMs(effect.purpose, watch),
      };
    case 'trial':
      return { ...base, kind: 'trial', askedAtMs: nowMs, timeoutMs: probeTimeoutMs('trial', watch) };
    case 'resolve':
      return { ...base, kind: 'resolve', name: pod.name };
    case 'terminate':
      return { ...base, kind: 'terminate', id: pod.id ?? '', why: effect.why };
  }
}

function isDurable(event: PodEvent, before: Pod, after: Pod): boolean {
  return (
    before.state !== after.state ||
    event.kind === 'seen' ||
    event.kind === 'answer-lost' ||
    event.kind === 'suspected'
  );
}
