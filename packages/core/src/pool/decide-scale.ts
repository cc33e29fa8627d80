import type { PoolCap } from './caps.ts';
import { leave, leavingOrder } from './decide-shed.ts';
import { type Offered, offered } from './demand.ts';
import type { PoolMemory } from './memory.ts';
import { openPod } from './open-pod.ts';
import type { Pass } from './pass.ts';
import type { RentAction } from './plan.ts';
import type { Pod } from './pod-state.ts';
import { idleTimeoutMs, type PoolSettings } from './pool-settings.ts';
import { type RentInput, rentLimit } from './rent-limits.ts';
import type { World } from './world.ts';

/** A longer gap between passes was a pause, of the process or of the machine, and is not charged as waiting. */
const LONGEST_GAP_MS = 10_000;

export interface Rents {
  readonly rents: readonly RentAction[];
  readonly memory: PoolMemory;
  readonly note: string;
}

/**
 * Rent-or-wait. Demand above capacity is summed over time; when the sum reaches what a boot costs (boot time × width), the
 * waiting has paid for one more pod. Spare capacity pays the sum back, so that bursts far apart never add up. From 0 to 1
 * pod and up to the floor: at once. Everything within `rentLimit`.
 */
export function decideRents(input: RentInput): Rents {
  const { settings, cap, pass } = input;
  const now = offered(settings.name, pass.registry, pass.world);
  const price = settings.bootEstimateMs * settings.width;
  const debt = accrue(input, now, price);
  // Never more than the work at hand can fill: what the sum remembers may be done by now.
  const fillable = Math.max(0, Math.ceil((now.demand - now.capacity) / settings.width));
  const want = wanted(now, cap, price > 0 ? Math.min(Math.floor(debt / price), fillable) : 0);
  const limit = rentLimit(input);
  const count = Math.min(want.pods, limit.pods);
  const rents = Array.from({ length: count }, () => rentAction(settings, want.why));
  rents.forEach((rent, i) => {
    // A stand-in, so that the caps of the pools after this one see the money as spent.
    const key = `planned/${settings.name}/${i}`;
    pass.registry.set(key, openPod(rent, { key, name: key }, pass.world.nowMs));
  });
  return {
    rents,
    memory: {
      ...input.memory,
      debtPageMs: Math.max(0, debt - count * price),
      debtAtMs: pass.world.nowMs,
      deficit: now.demand - now.capacity - count * settings.width,
    },
    note:
      want.pods > count
        ? `wants ${want.pods} more (${want.why}), gets ${count}: ${limit.why}`
        : count > 0
          ? want.why
          : '',
  };
}

function wanted(now: Offered, cap: PoolCap, paidFor: number): { pods: number; why: string } {
  const forFloor = cap.floor - now.capacityPods.length;
  if (forFloor > 0 && forFloor >= paidFor) return { pods: forFloor, why: `the floor is ${cap.floor}` };
  if (paidFor > 0)
    return {
      pods: paidFor,
      why: `waiting has cost as much as ${paidFor} ${paidFor === 1 ? 'boot' : 'boots'}`,
    };
  if (now.demand > 0 && now.capacity === 0)
    return { pods: 1, why: `${now.demand} pages wait and no pod is there` };
  return { pods: 0, why: '' };
}

/**
 * The smaller of this and the last pass's deficit counts for the time between them. While idle width could be lent, or
 * the workers are unknown, the sum stands still. It is never more than a full ramp's worth.
 */
function accrue({ settings, memory, pass }: RentInput, now: Offered, price: number): number {
  const { world } = pass;
  if (world.reports === null) return memory.debtPageMs;
  const gapMs = Math.min(Math.max(0, world.nowMs - memory.debtAtMs), LONGEST_GAP_MS);
  const deficit = now.demand - now.capacity;
  const rate =
    deficit <= 0 ? deficit : now.hasWidthToLend ? 0 : Math.min(deficit, Math.max(0, memory.deficit));
  return Math.min(Math.max(0, memory.debtPageMs + rate * gapMs), price * Math.max(1, settings.rampPods));
}

function rentAction(settings: PoolSettings, why: string): RentAction {
  const { width, configHash, bootDeadlineMs, offer, priceUsdPerHour } = settings;
  return {
    kind: 'rent',
    pool: settings.name,
    width,
    configHash,
    bootDeadlineMs,
    offer,
    priceUsdPerHour,
    reason: `${settings.name}: ${why}`,
  };
}

/**
 * Keep-or-drop, the mirror: a pod that the pool could do without is kept for as long as renting it again would take, then
 * drained. Counted by the pool (`surplusSinceMs[i]`: at least i + 1 pods too many since then), because pages are spread
 * over all pods and no single one stays idle. Nothing leaves while any worker is silent.
 */
export function decideDrops(
  settings: PoolSettings,
  memory: PoolMemory,
  cap: PoolCap,
  pass: Pass,
): PoolMemory {
  const { world } = pass;
  const noted = noteSurplus(settings, memory, pass);
  const now = offered(settings.name, pass.registry, world);
  const keepMs = idleTimeoutMs(settings);
  const expired = noted.surplusSinceMs.filter((atMs) => world.nowMs - atMs >= keepMs).length;
  const drops = Math.max(0, Math.min(expired, now.capacityPods.length - cap.floor));
  for (const pod of droppable(now, world).slice(0, drops)) {
    leave(pass, pod, settings, 'idle', `the pool has had a pod too many for ${Math.round(keepMs / 1000)} s`);
  }
  return { ...noted, surplusSinceMs: noted.surplusSinceMs.slice(drops) };
}

/** How many pods could go and the work still fit, and since when; once more after renting, so that the next pass agrees. */
export function noteSurplus(settings: PoolSettings, memory: PoolMemory, pass: Pass): PoolMemory {
  const { world } = pass;
  if (world.reports?.complete !== true) return { ...memory, surplusSinceMs: [] };
  const now = offered(settings.name, pass.registry, world);
  let spare = now.capacity - now.demand;
  let surplus = 0;
  for (const pod of droppable(now, world)) {
    if (spare < pod.width) break;
    spare -= pod.width;
    surplus += 1;
  }
  const since = memory.surplusSinceMs.slice(0, surplus);
  while (since.length < surplus) since.push(world.nowMs);
  return { ...memory, surplusSinceMs: since };
}

function droppable(now: Offered, world: World): Pod[] {
  return leavingOrder(
    now.capacityPods.filter((pod) => pod.state === 'serving' || pod.state === 'quarantined'),
    world,
  );
}
