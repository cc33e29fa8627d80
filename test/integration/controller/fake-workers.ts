import type { PoolDemand, Report, Roster, RosterWorker, Slice, Suspicion } from '@pagefleet/contract';
import { adoptSlice } from '@pagefleet/core';
import { type Bus, connectBus, createLogger } from '@pagefleet/runtime';
import type { TestCluster } from './cluster-kit.ts';

export interface FakeWorker {
  readonly bootId: string;
  /** the slice in force */
  slice(): Slice | null;
  /** when the slice in force arrived, on the monotonic clock */
  sliceAtMs(): number;
  /** pages on pods, by pod id; goes out at once, as a worker does when something changes */
  setInflight(inflight: Record<string, number>): void;
  setDemand(demand: Partial<PoolDemand>): void;
  suspect(podId: string, suspicion: Omit<Suspicion, 'n' | 'atMs'>): void;
  /** no more reports, as if it hung */
  hang(): void;
  setState(state: RosterWorker['state']): void;
}

export interface FakeGroup {
  readonly workers: readonly FakeWorker[];
  [Symbol.asyncDispose](): Promise<void>;
}

const POOL = 'ocr';
const NO_DEMAND: PoolDemand = { inflight: 0, waiting: 0, unsplit: 0, refused: 0, oldestWaitMs: 0 };

/** Stands for the worker group on the real bus: a primary's roster, and workers that follow slices and report. */
export async function startFakeGroup(
  kit: TestCluster,
  options: { group: string; bootIds: string[] },
): Promise<FakeGroup> {
  const { cluster } = kit;
  const bus = await connectBus({
    url: cluster.natsUrl,
    credentialsFile: cluster.natsCredentialsFile,
    name: options.group,
    logger: createLogger({ component: options.group, level: 'error' }),
  });
  let seq = 0;
  const rows: RosterWorker[] = options.bootIds.map((bootId, index) => ({
    bootId,
    worker: options.group === 'backup' ? -1 : index,
    pid: process.pid,
    port: cluster.ports.workers[index] ?? cluster.ports.backup,
    state: 'listening',
    sinceMs: Date.now(),
  }));
  const publish = () => {
    seq += 1;
    const roster: Roster = {
      v: 1,
      group: options.group,
      primaryId: 'fake',
      seq,
      atMs: Date.now(),
      workers: rows,
    };
    bus.publish('roster', options.group, roster);
  };
  const workers = rows.map((row) => startFakeWorker(bus, row, publish));
  const timer = setInterval(publish, 500);
  return {
    workers,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      for (const worker of workers) worker.hang();
      await bus.close();
    },
  };
}

function startFakeWorker(bus: Bus, row: RosterWorker, publishRoster: () => void): FakeWorker {
  let inForce: Slice | null = null;
  let arrivedMs = 0;
  let inflight: Record<string, number> = {};
  let demand = NO_DEMAND;
  let seq = 0;
  let n = 0;
  const suspects = new Map<string, Suspicion>();

  const unwatch = bus.bucket('slices').watch(row.bootId, (_key, value) => {
    if (value === null) return;
    const held = inForce ?? { epoch: 0, rev: 0, pods: [] };
    const next = adoptSlice(held, value);
    if (next === undefined) return;
    inForce = next;
    arrivedMs = performance.now();
    for (const pod of next.pods) {
      if (pod.answeredSuspect >= (suspects.get(pod.id)?.n ?? 0)) suspects.delete(pod.id);
    }
    report();
  });
  const unwatchEpoch = bus.bucket('control').watch('epoch', (_key, value) => {
    if (value === null || inForce !== null) return;
    inForce = {
      v: 1,
      bootId: row.bootId,
      epoch: value.epoch,
      rev: 0,
      pods: [],
      pools: [],
      limits: NO_LIMITS,
    };
    report();
  });

  function report(): void {
    seq += 1;
    const pods: Report['pods'] = {};
    for (const id of new Set([...Object.keys(inflight), ...suspects.keys()])) {
      const suspect = suspects.get(id);
      pods[id] = {
        inflight: inflight[id] ?? 0,
        used: 0,
        good: 0,
        lastGoodMs: 0,
        oldestSlotMs: 0,
        pagesPerSecond: 0,
        ...(suspect === undefined ? {} : { suspect }),
      };
    }
    const held = Object.fromEntries((inForce?.pods ?? []).map((pod) => [pod.id, pod.width]));
    bus.publish('report', row.bootId, {
      v: 1,
      bootId: row.bootId,
      worker: row.worker,
      epoch: inForce?.epoch ?? 0,
      ack: inForce?.rev ?? 0,
      seq,
      atMs: Date.now(),
      held,
      pods,
      pools: { [POOL]: demand },
      totals: NO_TOTALS,
    });
  }
  const timer = setInterval(report, 500);

  return {
    bootId: row.bootId,
    slice: () => inForce,
    sliceAtMs: () => arrivedMs,
    setInflight(next) {
      inflight = next;
      report();
    },
    setDemand(next) {
      demand = { ...NO_DEMAND, ...next };
      report();
    },
    suspect(podId, suspicion) {
      n += 1;
      suspects.set(podId, { ...suspicion, n, atMs: Date.now() });
      report();
    },
    hang() {
      clearInterval(timer);
      unwatch();
      unwatchEpoch();
    },
    setState(state) {
      Object.assign(row, { state, sinceMs: Date.now() });
      publishRoster();
    },
  };
}

const NO_LIMITS = { maxInFlight: 0, maxQueued: 0, maxMemoryBytes: 0, maxSpoolBytes: 0 };
const NO_TOTALS: Report['totals'] = {
  ...{ pagesOk: 0, pagesFailed: 0, pagesRefused: 0, pagesRetried: 0 },
  ...{ bytesInMemory: 0, bytesSpooled: 0, loopDelayP99Ms: 0, rssBytes: 0 },
};

export function widthOf(worker: FakeWorker): number {
  return (worker.slice()?.pods ?? []).reduce((sum, pod) => sum + pod.width, 0);
}
