import { isCapacity, type Pod } from './pod-state.ts';
import type { World } from './world.ts';

/** Work offered to one pool, in pages, against what its pods can have in flight. */
export interface Offered {
  /** in flight + waiting + known but not split + refused in the last minute, less what leaving pods still finish */
  readonly demand: number;
  /** width of serving, quarantined and our own booting pods */
  readonly capacity: number;
  readonly capacityPods: readonly Pod[];
  /** more than a tenth of the serving width stands idle: lending can move work there before anything is bought */
  readonly hasWidthToLend: boolean;
}

const IDLE_NOISE = 0.1;

export function offered(pool: string, registry: ReadonlyMap<string, Pod>, world: World): Offered {
  const pods = [...registry.values()].filter((pod) => pod.pool === pool);
  const capacityPods = pods.filter(isCapacity);
  const leaving = pods.filter((pod) => pod.state === 'draining' || pod.state === 'terminating');
  const work = world.reports?.pools.get(pool);
  const total = work === undefined ? 0 : work.inflight + work.waiting + work.unsplit + work.refused;
  const serving = pods.filter((pod) => pod.state === 'serving');
  const idle = sum(serving.map((pod) => Math.max(0, pod.width - inflightOn(pod, world))));
  return {
    demand: Math.max(0, total - sum(leaving.map((pod) => inflightOn(pod, world)))),
    capacity: sum(capacityPods.map((pod) => pod.width)),
    capacityPods,
    hasWidthToLend: idle > IDLE_NOISE * sum(serving.map((pod) => pod.width)),
  };
}

export function inflightOn(pod: Pod, world: World): number {
  return pod.id === null ? 0 : (world.reports?.pods.get(pod.id)?.inflight ?? 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
