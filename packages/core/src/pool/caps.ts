import { unheldPods } from './adopt.ts';
import { leaseBounds } from './lease.ts';
import { liveCost } from './live-cost.ts';
import { isExisting } from './pod-state.ts';
import type { PoolSettings } from './pool-settings.ts';
import { scheduleBounds } from './schedule.ts';
import type { World } from './world.ts';

const MS_PER_HOUR = 3_600_000;

export type CapName =
  | 'max_pods'
  | 'lease'
  | 'schedule'
  | 'usd_per_hour'
  | 'usd_per_day'
  | 'no_budget'
  | 'stopping';

export interface PoolCap {
  readonly pool: string;
  /** every pod that exists, healthy or not, in the registry or only in the listings */
  readonly existing: number;
  /** what the operator set, before all else; a lease is clamped to it */
  readonly operatorCap: number;
  /** pods never to exceed by count: operator, leases, schedule, stopping. Pods above it are drained */
  readonly countCap: number;
  /** the cap in force with money taken in; never below `existing` for want of money alone */
  readonly effective: number;
  /** pods to keep ready; never above `effective` */
  readonly floor: number;
  /** pods that may be rented now */
  readonly room: number;
  readonly binds: CapName;
  readonly why: string;
}

export interface Caps {
  readonly pools: ReadonlyMap<string, PoolCap>;
  /** what the fleet bills above its hard limit per hour; 0 = within it */
  readonly overUsdPerHour: number;
  /** the day's money is spent: paid pods drain */
  readonly isDaySpent: boolean;
}

export type CapsInput = Pick<
  World,
  | 'nowMs'
  | 'clusterId'
  | 'registry'
  | 'pools'
  | 'listing'
  | 'leases'
  | 'schedule'
  | 'limits'
  | 'spentTodayUsd'
  | 'stopping'
>;

/** The one reader of the operator's cap and floor, the leases, the schedule and the two budgets. */
export function caps(world: CapsInput): Caps {
  const liveUsdPerHour = liveCost(world).usdPerHour;
  const hardUsdPerHour = world.limits.hardUsdPerHour ?? world.limits.usdPerHour;
  const hardUsdPerDay = world.limits.hardUsdPerDay ?? world.limits.usdPerDay;
  const existing = countExisting(world);
  const pools = new Map<string, PoolCap>();
  for (const settings of world.pools) {
    pools.set(settings.name, poolCap(settings, existing.get(settings.name) ?? 0, liveUsdPerHour, world));
  }
  return {
    pools,
    overUsdPerHour: hardUsdPerHour === null ? 0 : Math.max(0, liveUsdPerHour - hardUsdPerHour),
    isDaySpent: hardUsdPerDay !== null && (world.spentTodayUsd ?? 0) >= hardUsdPerDay,
  };
}

function poolCap(
  settings: PoolSettings,
  existing: number,
  liveUsdPerHour: number,
  world: CapsInput,
): PoolCap {
  const lease = leaseBounds(world.leases, settings.name, world.nowMs);
  const schedule = scheduleBounds(world.schedule, settings.name, world.nowMs);
  const counts = [
    bound(
      'max_pods',
      settings.maxPods,
      settings.maxPods === 0 ? 'max_pods is 0: renting is off' : `max_pods is ${settings.maxPods}`,
    ),
    bound('lease', lease.cap, `a lease caps the pool at ${lease.cap}`),
    bound('schedule', schedule.cap, `the schedule caps the pool at ${schedule.cap}`),
    bound('stopping', world.stopping ? 0 : Number.POSITIVE_INFINITY, 'the cluster is stopping'),
  ];
  const count = counts.reduce(tighter);
  const all = [count, ...moneyBounds(settings, existing, liveUsdPerHour, world)].reduce(tighter);
  const floor = Math.max(settings.minPods, lease.floor, schedule.floor);
  return {
    pool: settings.name,
    existing,
    operatorCap: settings.maxPods,
    countCap: count.pods,
    effective: all.pods,
    floor: Math.min(floor, all.pods),
    room: Math.max(0, all.pods - existing),
    binds: all.name,
    why: all.why,
  };
}

interface Bound {
  readonly name: CapName;
  readonly pods: number;
  readonly why: string;
}

/** Money allows what exists and as many pods more as fit. A pod that the day could not pay past its boot does not fit. */
function moneyBounds(
  settings: PoolSettings,
  existing: number,
  liveUsdPerHour: number,
  world: CapsInput,
): Bound[] {
  const price = settings.priceUsdPerHour ?? 0;
  if (settings.free || price === 0) return [];
  const { usdPerHour, usdPerDay } = world.limits;
  if (usdPerHour === null || usdPerDay === null || world.spentTodayUsd === null) {
    const lacks =
      usdPerHour === null || usdPerDay === null ? 'a $/hour and a $/day limit are' : 'the ledger is';
    return [bound('no_budget', existing, `${lacks} needed before a pod that costs money is rented`)];
  }
  const perHour = Math.max(0, Math.floor((usdPerHour - liveUsdPerHour) / price + 1e-9));
  const bootUsd = (price * settings.bootEstimateMs) / MS_PER_HOUR;
  const dayLeftUsd = usdPerDay - world.spentTodayUsd;
  const perDay = dayLeftUsd <= 0 ? 0 : Math.max(0, Math.floor(dayLeftUsd / Math.max(bootUsd, 1e-9)));
  return [
    bound(
      'usd_per_hour',
      existing + perHour,
      `${usd(liveUsdPerHour)}/h of ${usd(usdPerHour)}/h run, a pod costs ${usd(price)}/h`,
    ),
    bound(
      'usd_per_day',
      existing + perDay,
      `${usd(world.spentTodayUsd)} of the day's ${usd(usdPerDay)} are spent`,
    ),
  ];
}

function countExisting(world: CapsInput): Map<string, number> {
  const held = [...world.registry.values()].filter(isExisting).map((pod) => pod.pool);
  const counts = new Map<string, number>();
  for (const pool of [...held, ...unheldPods(world).map((entry) => entry.mark.pool)])
    counts.set(pool, (counts.get(pool) ?? 0) + 1);
  return counts;
}

function bound(name: CapName, pods: number, why: string): Bound {
  return { name, pods: Math.max(0, pods), why };
}

/** The earlier one on a tie, so that the operator's own number is named first. */
function tighter(a: Bound, b: Bound): Bound {
  return b.pods < a.pods ? b : a;
}

function usd(amount: number): string {
  return `$${amount.toFixed(2)}`;
}
