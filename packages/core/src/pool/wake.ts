import { lookUpMs, nextAskMs, settledMs } from './classify.ts';
import type { Memory } from './memory.ts';
import type { Pod } from './pod-state.ts';
import { provenMs } from './pod-view.ts';
import { idleTimeoutMs } from './pool-settings.ts';
import { lostAfterMs } from './probe.ts';
import { carefulListingMs, checkIntervalMs } from './watch.ts';
import type { Registry, World } from './world.ts';

const LONGEST_SLEEP_MS = 30_000;
/** Demand is summed between passes, so while some is unmet they come often. */
const UNMET_SLEEP_MS = 5_000;
const SOON_LISTING_MS = 10_000;

/** When the next pass is wanted if nothing is reported before. Always after now. */
export function wakeAtMs(registry: Registry, memory: Memory, world: World): number {
  const { nowMs } = world;
  const times = [nowMs + LONGEST_SLEEP_MS];
  for (const pod of registry.values()) times.push(podWakeMs(pod, world));
  for (const settings of world.pools) {
    const pool = memory.pools[settings.name];
    if (pool === undefined) continue;
    if (pool.deficit > 0) times.push(nowMs + UNMET_SLEEP_MS);
    times.push(pool.suspendedUntilMs, pool.refusedUntilMs, pool.pagesSuspendedUntilMs);
    times.push(...pool.surplusSinceMs.map((atMs) => atMs + idleTimeoutMs(settings)));
  }
  return Math.ceil(Math.min(...times.filter((atMs) => atMs > nowMs)));
}

function podWakeMs(pod: Pod, world: World): number {
  switch (pod.state) {
    case 'renting':
      return lookUpMs(pod);
    case 'booting':
      return Math.min(
        pod.deadlineMs,
        questionMs(pod, world) ?? (pod.url === null ? pod.deadlineMs : pod.nextProbeMs),
      );
    case 'serving':
      return (
        questionMs(pod, world) ??
        Math.max(pod.nextProbeMs, provenMs(pod, world) + checkIntervalMs(world.watch))
      );
    case 'quarantined':
      return questionMs(pod, world) ?? pod.nextProbeMs;
    case 'draining':
      return settledMs(pod, world.stopping) > world.nowMs ? settledMs(pod, world.stopping) : pod.deadlineMs;
    case 'terminating':
      return nextAskMs(pod);
    case 'terminated':
      return world.nowMs;
  }
}

/** When a question that is out would count as lost; its result wakes the controller by itself. */
function questionMs(pod: Extract<Pod, { nextProbeMs: number }>, { watch }: World): number | null {
  return pod.asked === null ? null : lostAfterMs(pod.asked, watch) + 1;
}

/** When the next complete listing is wanted: soon while one is needed to go on, else at the adoption interval. */
export function listingDueMs(registry: Registry, world: World): number {
  const { newest, previous } = world.listing;
  if (newest === null) return world.nowMs;
  const { adoptionIntervalMs } = world.watch;
  const pods = [...registry.values()];
  const pausesMs = [adoptionIntervalMs];
  if (previous === null || pods.some(needsListing)) pausesMs.push(SOON_LISTING_MS);
  if (pods.some((pod) => pod.state === 'quarantined')) pausesMs.push(carefulListingMs(world.watch));
  return newest.endedAtMs + Math.min(...pausesMs);
}

function needsListing(pod: Pod): boolean {
  if (pod.state === 'renting') return pod.answer === 'ambiguous';
  return pod.state === 'terminating' || (pod.state === 'booting' && pod.url === null);
}
