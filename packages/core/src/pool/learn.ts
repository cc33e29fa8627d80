import { learnOffers } from './learn-offers.ts';
import { NEW_POOL_MEMORY, type PoolMemory } from './memory.ts';
import type { RefusalFault } from './offer.ts';
import type { Pass, PodChange } from './pass.ts';
import { isFailureToBoot, isOurBoot, type Pod } from './pod-state.ts';
import { reportOf } from './pod-view.ts';
import { suspendPages } from './suspend-pages.ts';

const FAILED_BOOTS_TO_SUSPEND = 3;
const SUSPEND_FIRST_MS = 600_000;
const SUSPEND_LONGEST_MS = 4 * 3_600_000;
const REFUSED_FIRST_MS = 30_000;
const REFUSED_LONGEST_MS = 600_000;
const HASHES_KEPT = 8;

/** What a pass teaches about one pool, before anything is rented for it. `forgotten` are the pods that leave for good. */
export function learn(
  pool: string,
  memory: PoolMemory | undefined,
  pass: Pass,
  forgotten: readonly Pod[],
): PoolMemory {
  const { nowMs } = pass.world;
  const pods = [...pass.registry.values()].filter((pod) => pod.pool === pool);
  const changes = pass.changes.filter((change) => change.before.pool === pool);
  let next: PoolMemory = { ...NEW_POOL_MEMORY, ...memory };
  next = forgetOtherBoots(next, pass.world.pools.find(({ name }) => name === pool)?.configHash);
  next = learnBoots(next, changes, nowMs);
  const over = forgotten.filter((pod) => pod.pool === pool);
  next = learnOffers(next, { pods, changes, forgotten: over, pass });
  next = learnRefusals(next, pods, [...over.filter(isRefusal), ...setAside(changes)], nowMs);
  next = learnPages(next, pods, pass);
  next = suspendPages(next, pods, pass);
  const ends = (pass.endsByProbeMs.get(pool) ?? []).filter((atMs) => nowMs - atMs < 60_000);
  return { ...next, endsByProbeMs: ends };
}

/** Who has mended the configuration does not wait for what the old one did. */
function forgetOtherBoots(memory: PoolMemory, configHash: string | undefined): PoolMemory {
  const { failedHash } = memory;
  if (failedHash === undefined || configHash === undefined || failedHash === configHash) return memory;
  const { failedHash: _, ...rest } = memory;
  return { ...rest, failedBoots: 0, suspendedUntilMs: 0 };
}

/** Three boots that failed in a row suspend renting; then one trial after 10 min, doubling. One that came up ends it. */
function learnBoots(memory: PoolMemory, changes: readonly PodChange[], nowMs: number): PoolMemory {
  let { failedBoots, suspendedUntilMs, failedHash } = memory;
  for (const { before, after } of changes) {
    if (before.state !== 'booting' || before.origin !== 'rented') continue;
    if (after.state === 'serving') {
      failedBoots = 0;
      suspendedUntilMs = 0;
    } else if (isFailedBoot(after)) {
      failedBoots += 1;
      failedHash = before.configHash;
      const doublings = failedBoots - FAILED_BOOTS_TO_SUSPEND;
      if (doublings >= 0)
        suspendedUntilMs = nowMs + Math.min(SUSPEND_FIRST_MS * 2 ** doublings, SUSPEND_LONGEST_MS);
    }
  }
  return { ...memory, failedBoots, suspendedUntilMs, ...(failedHash === undefined ? {} : { failedHash }) };
}

function isFailedBoot(pod: Pod): boolean {
  if (pod.state !== 'terminating' && pod.state !== 'terminated') return false;
  return isFailureToBoot(pod.why);
}

/**
 * What speaks against renting at all, and not only against one offer, stops the pool for 30 s, doubling to 10 min, until
 * something is bought. A provider that may not be asked now is asked again after 30 s.
 */
function learnRefusals(
  memory: PoolMemory,
  pods: readonly Pod[],
  fresh: readonly { readonly fault?: RefusalFault }[],
  nowMs: number,
): PoolMemory {
  if (fresh.length > 0) {
    const waits = fresh.every(({ fault }) => fault === 'wait');
    const refusals = memory.refusals + (waits ? 0 : 1);
    const pauseMs = waits
      ? REFUSED_FIRST_MS
      : Math.min(REFUSED_FIRST_MS * 2 ** (refusals - 1), REFUSED_LONGEST_MS);
    const last = fresh
      .map(({ fault }) => fault)
      .findLast((fault) => fault === 'account' || fault === 'request');
    const refusal = last === undefined ? memory.refusal : { fault: last, atMs: nowMs };
    return { ...memory, refusals, refusal, refusedUntilMs: nowMs + pauseMs };
  }
  const isBought = pods.some(
    (pod) => isOurBoot(pod) && pod.id !== null && pod.createdAtMs >= memory.refusedUntilMs,
  );
  return isBought ? { ...memory, refusals: 0, refusal: null } : memory;
}

/** One offer's lack of capacity is remembered with the offer, where there are others to try. */
function isRefusal(pod: Pod): pod is Extract<Pod, { state: 'terminated' }> {
  if (pod.state !== 'terminated') return false;
  if (pod.why === 'never-seen') return pod.id === null;
  return pod.why === 'refused' && (pod.offer === null || pod.fault !== 'no-capacity');
}

function setAside(changes: readonly PodChange[]): object[] {
  return changes.filter(
    ({ before, after }) =>
      after.offer === null &&
      before.state !== after.state &&
      'why' in after &&
      after.why === 'overpriced' &&
      !('why' in before),
  );
}

function learnPages(memory: PoolMemory, pods: readonly Pod[], pass: Pass): PoolMemory {
  const { world } = pass;
  const proven = new Set(memory.provenHashes);
  let { lastGoodPageMs, lastFailedPageMs } = memory;
  let failedPages = 0;
  for (const pod of pods) {
    const report = reportOf(pod, world);
    if ((report?.good ?? 0) > 0 || world.probes.get(pod.key)?.outcome === 'page-read')
      proven.add(pod.configHash);
    if (report === null) continue;
    lastGoodPageMs = Math.max(lastGoodPageMs, report.lastGoodMs);
    failedPages += Math.max(0, report.used - report.good);
  }
  if (failedPages > memory.failedPages) lastFailedPageMs = world.nowMs;
  return {
    ...memory,
    provenHashes: [...proven].slice(-HASHES_KEPT),
    failedPages,
    lastFailedPageMs,
    lastGoodPageMs,
  };
}
