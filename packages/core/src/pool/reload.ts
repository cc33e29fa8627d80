import { enterRegistry } from './adopt.ts';
import type { Pod } from './pod-state.ts';
import { transition } from './pod-transition.ts';
import type { Registry } from './world.ts';

/**
 * The registry as a new controller takes it from the journal. What an earlier life asked has no answer any more: a paid
 * call is ambiguous, a probe was never sent.
 */
export function reloadRegistry(pods: Iterable<Pod>, nowMs: number): Registry {
  let registry: Registry = new Map();
  for (const pod of pods) {
    // What was decided and never asked for is decided anew.
    if (pod.state === 'terminated' || (pod.state === 'renting' && pod.answer === 'uncalled')) continue;
    registry = enterRegistry(registry, reload(pod, nowMs), nowMs).registry;
  }
  return registry;
}

function reload(held: Pod, nowMs: number): Pod {
  // A journal written before pods were chosen by offer says nothing of it.
  const pod = { ...held, offer: held.offer ?? null };
  const isPending = pod.state === 'renting' && pod.answer === 'pending';
  const isAsked = 'asked' in pod && pod.asked !== null;
  if (!isPending && !isAsked) return pod;
  const result = transition(pod, { kind: isPending ? 'answer-lost' : 'probe-void' }, nowMs);
  return result.legal ? result.pod : pod;
}
