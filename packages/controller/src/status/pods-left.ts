import { isExisting, liveCost, unheldPods, type World } from '@pagefleet/core';

interface PodsLeft {
  readonly pods: readonly { readonly pod: string; readonly state: string }[];
  readonly usdPerHour: number;
  readonly unpricedPods: number;
}

/**
 * What goes on running, and billing, when the controller leaves: the pods it holds, and those of ours that only the listing
 * shows. null = nothing does.
 */
export function podsLeft(world: Pick<World, 'registry' | 'listing' | 'clusterId'>): PodsLeft | null {
  const held = [...world.registry.values()].filter(isExisting);
  const pods = [
    ...held.map(({ id, name, state }) => ({ pod: id ?? name, state })),
    ...unheldPods(world).map(({ id }) => ({ pod: id, state: 'listed' })),
  ];
  if (pods.length === 0) return null;
  const { usdPerHour, unpricedPods } = liveCost(world);
  return { pods, usdPerHour, unpricedPods };
}
