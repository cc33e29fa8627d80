import type { Caps } from './caps.ts';
import { inflightOn } from './demand.ts';
import { applyStep, type Pass } from './pass.ts';
import { type EndReason, isStaying, type Pod } from './pod-state.ts';
import type { PoolSettings } from './pool-settings.ts';
import type { Step } from './step.ts';
import type { World } from './world.ts';

/**
 * Pods above the caps leave, those first that do the least. The count caps act only while the bus can tell workers; the
 * money limits and a stop act always.
 */
export function decideShed(pass: Pass, caps: Caps): void {
  const { world } = pass;
  for (const settings of world.pools) {
    const cap = caps.pools.get(settings.name);
    if (cap === undefined || (world.reports === null && !world.stopping)) continue;
    const staying = leavingOrder(
      [...pass.registry.values()].filter((pod) => pod.pool === settings.name && isStaying(pod)),
      world,
    );
    const excess = staying.length - cap.countCap;
    const why = world.stopping ? 'stopping' : 'over-cap';
    for (const pod of staying.filter(canLeave).slice(0, Math.max(0, excess)))
      leave(pass, pod, settings, why, cap.why);
  }
  shedForMoney(pass, caps);
}

function shedForMoney(pass: Pass, caps: Caps): void {
  const { world } = pass;
  const paid = [...pass.registry.values()].filter(
    (pod) => isStaying(pod) && canLeave(pod) && (pod.priceUsdPerHour ?? 0) > 0,
  );
  let overUsdPerHour = caps.overUsdPerHour - leavingUsdPerHour(pass);
  for (const pod of leavingOrder(paid, world)) {
    if (!caps.isDaySpent && overUsdPerHour <= 1e-9) return;
    const settings = world.pools.find((pool) => pool.name === pod.pool);
    if (settings === undefined) continue;
    overUsdPerHour -= pod.priceUsdPerHour ?? 0;
    leave(
      pass,
      pod,
      settings,
      'over-budget',
      caps.isDaySpent ? "the day's money is spent" : 'the fleet bills more per hour than allowed',
    );
  }
}

/** What is on its way out already is paid for until it is gone, but no reason to send more after it. */
function leavingUsdPerHour(pass: Pass): number {
  return [...pass.registry.values()]
    .filter((pod) => pod.state === 'draining' || pod.state === 'terminating')
    .reduce((usd, pod) => usd + (pod.priceUsdPerHour ?? 0), 0);
}

/** A pod that is being bought has no id to end it by; it leaves once it has. */
function canLeave(pod: Pod): boolean {
  return pod.state === 'booting' || pod.state === 'serving' || pod.state === 'quarantined';
}

export function leave(pass: Pass, pod: Pod, settings: PoolSettings, why: EndReason, because: string): void {
  const { nowMs } = pass.world;
  const name = `pod ${pod.id ?? pod.name}`;
  const step: Step =
    pod.state === 'booting'
      ? {
          event: { kind: 'end', why },
          reason: `${name} is ended: ${because}`,
          effect: { kind: 'terminate', why },
        }
      : {
          event: { kind: 'drain', why, deadlineMs: nowMs + settings.graceMs },
          reason: `${name} is drained: ${because}`,
        };
  applyStep(pass, pod, step);
}

/** Boots first (foreign ones, then the newest), then pods set aside, then the least busy, dearest and newest. */
export function leavingOrder(pods: readonly Pod[], world: World): Pod[] {
  return [...pods].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      inflightOn(a, world) - inflightOn(b, world) ||
      (b.priceUsdPerHour ?? 0) - (a.priceUsdPerHour ?? 0) ||
      b.createdAtMs - a.createdAtMs ||
      (a.key < b.key ? -1 : 1),
  );
}

function rank(pod: Pod): number {
  if (pod.state === 'booting') return pod.origin === 'adopted' ? 0 : 1;
  if (pod.state === 'renting') return 1;
  return pod.state === 'quarantined' ? 2 : 3;
}
