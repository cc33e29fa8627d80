import type { ClusterFile, FleetStatus } from '@pagefleet/contract';
import { type MergedReports, mergeReports, type Pod, type Registry } from '@pagefleet/core';
import type { ApiUsage } from '@pagefleet/providers';
import type { MoneyBook } from '../money/money-book.ts';
import type { PodProber } from '../observe/pod-prober.ts';
import type { Facts } from '../world.ts';
import { buildStatus } from './build-status.ts';
import { lateSources } from './degraded.ts';
import type { PassNotes } from './pass-notes.ts';
import { createSource } from './source.ts';

interface ReaderDeps {
  readonly cluster: ClusterFile;
  readonly facts: Facts;
  readonly notes: PassNotes;
  readonly prober: PodProber;
  readonly registry: () => Registry;
  readonly money: MoneyBook;
  readonly usage: () => readonly ApiUsage[];
  readonly epoch: () => number;
  readonly newestRev: (bootId: string) => number | null;
  readonly tokenOf: (pod: Pod) => string | null;
  readonly bus: () => { readonly connected: boolean; readonly lastConnectedMs: number | null };
  readonly nowMs: () => number;
}

/** */
const SOURCE_LIMIT_MS = 5_000;
/** Pods that answered a moment ago are not asked again for the sake of a display. */
const HEALTH_FRESH_MS = 2_000;
/** A pod's health answers in milliseconds; one that hangs must not hold up the picture of the others. */
const PROBE_TIMEOUT_MS = 1_000;

/** Reads everything a snapshot is made of, late sources left at their last values. Always answers. */
export function createStatusReader(deps: ReaderDeps): () => Promise<FleetStatus> {
  const { facts, nowMs } = deps;
  const pods = createSource({
    name: 'pods',
    limitMs: SOURCE_LIMIT_MS,
    nowMs,
    read: () => refreshHealth(deps),
  });
  return async () => {
    const { late, ageMs } = await pods.read();
    const now = nowMs();
    const workers = facts.workers.workers().map((worker) => ({
      worker,
      received: facts.workers.reportOf(worker.bootId),
      ackedRev: deps.newestRev(worker.bootId),
    }));
    return buildStatus({
      nowMs: now,
      config: deps.cluster.config,
      clusterId: deps.cluster.clusterId,
      epoch: deps.epoch(),
      registry: deps.registry(),
      listing: facts.listing,
      caps: deps.notes.caps,
      offers: facts.offers,
      usage: deps.usage(),
      money: deps.money.state,
      today: deps.money.calendar.dayAt(now),
      reports: lastReports(deps, now),
      workers,
      probes: facts.probes,
      health: deps.notes.health,
      reasons: deps.notes.reasons,
      alarms: deps.notes.alarms.all(),
      degraded: lateSources({
        nowMs: now,
        listing: facts.listing,
        listingIntervalMs: deps.cluster.config.control.adoptionIntervalMs,
        bus: deps.bus(),
        workers: facts.workers,
        pods: { late, ageMs },
      }),
    });
  };
}

/** For display also what is old: its age stands beside it. */
function lastReports(deps: ReaderDeps, now: number): MergedReports {
  const { workers } = deps.facts;
  return mergeReports(workers.received(), { nowMs: now, epoch: deps.epoch(), alive: workers.alive() });
}

/** Side by side, each pod within the limit; throws when any did not answer, so that the snapshot says so. */
async function refreshHealth(deps: ReaderDeps): Promise<void> {
  const asked = [...deps.registry().values()].filter((pod) => {
    const known = deps.notes.health.get(pod.key);
    return pod.state === 'serving' && (known === undefined || deps.nowMs() - known.atMs > HEALTH_FRESH_MS);
  });
  const silent = await Promise.all(asked.map((pod) => refreshPod(pod, deps)));
  const count = silent.filter(Boolean).length;
  if (count > 0) throw new Error(`${count} of ${asked.length} pods did not tell how they are`);
}

async function refreshPod(pod: Pod, deps: ReaderDeps): Promise<boolean> {
  const token = deps.tokenOf(pod);
  if (token === null || pod.url === null) return true;
  const target = { url: pod.url, token };
  const { health } = await deps.prober.probe(target, { timeoutMs: PROBE_TIMEOUT_MS, lane: 'control' });
  if (health === null) return true;
  deps.notes.health.set(pod.key, { health, atMs: deps.nowMs() });
  return false;
}
