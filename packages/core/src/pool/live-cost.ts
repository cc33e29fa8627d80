import { unheldPods } from './adopt.ts';
import { isExisting, type Pod } from './pod-state.ts';
import type { World } from './world.ts';

/** What the fleet bills now, and the pods it is billed for: money is never shown without them. */
export interface LiveCost {
  /** the sum of the three parts */
  readonly usdPerHour: number;
  readonly servingUsdPerHour: number;
  readonly bootingUsdPerHour: number;
  readonly setAsideUsdPerHour: number;
  readonly servingPods: number;
  readonly bootingPods: number;
  readonly setAsidePods: number;
  /** existing pods whose price nobody knows; the sums are too low by them */
  readonly unpricedPods: number;
}

type Part = 'serving' | 'booting' | 'setAside';

/**
 * Every pod of the registry from the moment it is asked for, and every pod of ours that the listings show besides.
 * Draining and terminating pods bill as serving ones until they are gone.
 */
export function liveCost(world: Pick<World, 'registry' | 'listing' | 'clusterId'>): LiveCost {
  const sum = { serving: 0, booting: 0, setAside: 0 };
  const count = { serving: 0, booting: 0, setAside: 0 };
  let unpricedPods = 0;
  const add = (part: Part, price: number | null) => {
    sum[part] += price ?? 0;
    count[part] += 1;
    if (price === null) unpricedPods += 1;
  };
  for (const pod of world.registry.values()) if (isExisting(pod)) add(partOf(pod), pod.priceUsdPerHour);
  for (const entry of unheldPods(world)) add('booting', entry.priceUsdPerHour);
  return {
    usdPerHour: sum.serving + sum.booting + sum.setAside,
    servingUsdPerHour: sum.serving,
    bootingUsdPerHour: sum.booting,
    setAsideUsdPerHour: sum.setAside,
    servingPods: count.serving,
    bootingPods: count.booting,
    setAsidePods: count.setAside,
    unpricedPods,
  };
}

function partOf(pod: Pod): Part {
  if (pod.state === 'renting' || pod.state === 'booting') return 'booting';
  return pod.state === 'quarantined' ? 'setAside' : 'serving';
}
