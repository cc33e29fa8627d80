import type { EndReason } from './pod-state.ts';
import type { PodEvent } from './pod-transition.ts';
import type { PodView } from './pod-view.ts';
import type { ProbePurpose } from './probe.ts';

/** What goes with a change of a pod; the pass adds key, revision and time. */
export type Effect =
  | { readonly kind: 'probe'; readonly purpose: Exclude<ProbePurpose, 'trial'> }
  | { readonly kind: 'trial' }
  | { readonly kind: 'resolve' }
  | { readonly kind: 'terminate'; readonly why: EndReason };

/** One thing that happens to one pod in a pass. */
export interface Step {
  readonly event: PodEvent;
  readonly reason: string;
  readonly effect?: Effect;
  /** counts against the ends by probe of a minute */
  readonly isEndByProbe?: boolean;
}

export type Decide = (view: PodView) => Step | null;

/** How a pod is called in sentences. */
export function nameOf(view: PodView): string {
  return `pod ${view.pod.id ?? view.pod.name}`;
}

export function endStep(view: PodView, why: EndReason, reason: string): Step {
  return {
    event: { kind: 'end', why },
    reason: `${nameOf(view)} ${reason}`,
    effect: { kind: 'terminate', why },
  };
}

export function askStep(view: PodView, purpose: Exclude<ProbePurpose, 'trial'>, nextProbeMs: number): Step {
  return {
    event: { kind: 'probe-asked', purpose, nextProbeMs },
    reason: `${nameOf(view)} is probed (${purpose})`,
    effect: { kind: 'probe', purpose },
  };
}

export function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
