import type { PoolModel } from './pool-model.ts';

/** The last one: the process or the machine was suspended. */
const PAUSES_MS = [500, 500, 1_000, 1_000, 3_000, 3_000, 10_000, 10_000, 20_000, 20_000, 240_000];

export function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One thing that goes wrong, or right again. */
export function disturb(model: PoolModel): void {
  const pod = model.pick([...model.cloud.values()]);
  if (model.chance(0.2)) model.demand = model.pick([0, 0, 1, 4, 12, 40]) ?? 0;
  if (model.chance(0.05)) model.isRouteUp = !model.isRouteUp;
  if (!model.isRouteUp && model.chance(0.2)) model.isRouteUp = true;
  if (model.chance(0.05)) model.isProviderUp = !model.isProviderUp;
  if (!model.isProviderUp && model.chance(0.2)) model.isProviderUp = true;
  if (model.chance(0.03)) model.isBusUp = !model.isBusUp;
  if (model.chance(0.05)) model.isWorkerSilent = !model.isWorkerSilent;
  if (model.chance(0.03)) model.leaseCap = model.pick([null, 2, 5, 50]) ?? null;
  if (model.chance(0.02)) model.maxPods = model.pick([0, 1, 3, 6]) ?? 6;
  if (pod !== undefined && model.chance(0.08)) pod.refusesUntilMs = model.nowMs + 60_000;
  if (pod !== undefined && model.chance(0.05)) pod.refusesPagesUntilMs = model.nowMs + 40_000;
  if (pod !== undefined && model.chance(0.02)) pod.isDead = true;
  if (pod !== undefined && model.chance(0.02)) model.cloud.delete(pod.id);
  if (pod !== undefined && model.chance(0.08)) pod.hideOnce = true;
  if (model.chance(0.02)) model.forgetOne();
  if (model.chance(0.02)) model.restart();
  if (model.chance(0.003)) model.isStopping = true;
}

export function heal(model: PoolModel): void {
  model.isRouteUp = true;
  model.isProviderUp = true;
  model.isBusUp = true;
  model.isWorkerSilent = false;
  model.leaseCap = null;
  model.maxPods = 6;
  model.isStopping = false;
  model.demand = 4;
  for (const pod of model.cloud.values()) pod.hideOnce = false;
}

export function pauseMs(model: PoolModel): number {
  return model.pick(PAUSES_MS) ?? 1_000;
}
