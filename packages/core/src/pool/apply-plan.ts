import { enterRegistry } from './adopt.ts';
import { openPod } from './open-pod.ts';
import type { Plan } from './plan.ts';
import type { Pod } from './pod-state.ts';
import { transition } from './pod-transition.ts';
import type { World } from './world.ts';

/** Key and name of the n-th pod that a plan rents; random in the shell, counted in a model. */
export type MintIdentity = (pool: string) => { readonly key: string; readonly name: string };

/**
 * What a plan does to the controller's own state: the part of applying it that is pure. The shell does the same and then
 * carries out the actions. Deciding again on the result, at the same instant, gives an empty plan (L3).
 */
export function applyPlan(world: World, plan: Plan, mint: MintIdentity): World {
  let registry: ReadonlyMap<string, Pod> = world.registry;
  for (const { pod } of plan.adoptions) registry = enterRegistry(registry, pod, plan.nowMs).registry;
  const next = new Map(registry);
  for (const planned of plan.transitions) {
    const pod = next.get(planned.podKey);
    if (pod === undefined || pod.revision !== planned.revision) continue;
    const result = transition(pod, planned.event, plan.nowMs);
    if (result.legal) next.set(pod.key, result.pod);
  }
  for (const key of plan.forget) next.delete(key);
  for (const action of plan.actions) {
    if (action.kind !== 'rent') continue;
    const pod = openPod(action, mint(action.pool), plan.nowMs);
    next.set(pod.key, pod);
  }
  return { ...world, registry: next, memory: plan.memory };
}
