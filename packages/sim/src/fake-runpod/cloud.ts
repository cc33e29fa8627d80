import { randomBytes, randomInt } from 'node:crypto';
import { freePorts } from '@pagefleet/runtime';
import type { Account } from './account.ts';
import type { FakeClock } from './clock.ts';
import type { Journal } from './journal.ts';
import { microUsd } from './table/catalogue.ts';
import type { PodKnobs } from './table/knobs.ts';
import { type DueEvent, dueEvent, firstDueMs, observePod } from './table/observe-pod.ts';
import { type Placement, placePod } from './table/place-pod.ts';
import type { PodRecord, PodRequest } from './table/pod-record.ts';

/** Between the SIGTERM of a spot pod that was outbid and its SIGKILL. */
const OUTBID_GRACE_MS = 5_000;

export type CreateRefusal = 'no-capacity' | 'no-balance' | 'spend-limit';
export type EndOutcome = 'ended' | 'not-found' | 'failed';

export interface CloudDeps {
  readonly account: Account;
  readonly clock: FakeClock;
  readonly journal: Journal;
  /** something changed: the pods' bodies and the next timer are to be looked at */
  readonly touched: () => void;
}

export type Cloud = ReturnType<typeof createCloud>;

/** The pod table and everything that changes it; the four services are views of it. */
export function createCloud({ account, clock, journal, touched }: CloudDeps) {
  /** nothing is due before; every request asks, and there may be thousands of pods */
  let nextDueMs = 0;
  const save = (pod: PodRecord): void => {
    journal.pod(pod);
    nextDueMs = Math.min(nextDueMs, firstDueMs(pod));
    touched();
  };

  /** Carries out what was due by itself, each at its own instant, however late it is noticed: money depends on it. */
  function settle(): void {
    const nowMs = clock.nowMs();
    if (nowMs < nextDueMs) return;
    nextDueMs = Number.POSITIVE_INFINITY;
    for (const pod of account.pods.values()) {
      for (let event = dueEvent(pod, nowMs); event !== null; event = dueEvent(pod, nowMs)) {
        applyDue(pod, event);
        save(pod);
      }
      nextDueMs = Math.min(nextDueMs, firstDueMs(pod));
    }
  }

  async function create(
    request: PodRequest,
    knobs: PodKnobs,
  ): Promise<{ pod: PodRecord } | { refused: CreateRefusal }> {
    const refused = refuseMoney(account, clock.nowMs());
    if (refused !== null) return { refused };
    const placement =
      request.cpuId === null ? placePod(account.catalogue, account.pods.values(), request) : null;
    if (request.cpuId === null && placement === null) return { refused: 'no-capacity' };
    const pod = openPod(request, { placement, knobs, nowMs: clock.nowMs() });
    // In the table before anything is waited for: the place is taken, and the money runs.
    account.pods.set(pod.id, pod);
    await allotPorts(pod);
    save(pod);
    return { pod };
  }

  async function allotPorts(pod: PodRecord): Promise<void> {
    const asked = [...new Set(pod.request.ports)].map(parsePort);
    const numbers = [...new Set(asked.map((port) => port.private))];
    const free = pod.knobs.listen
      ? await freePorts(numbers.length)
      : numbers.map(() => randomInt(20_000, 60_000));
    pod.ports = asked.map((port) => ({ ...port, public: free[numbers.indexOf(port.private)] ?? 0 }));
  }

  function find(id: string): PodRecord | null {
    const pod = account.pods.get(id);
    return pod && observePod(pod, clock.nowMs()).visible ? pod : null;
  }

  function end(id: string): EndOutcome {
    const pod = find(id);
    if (pod === null) return 'not-found';
    const { terminate } = pod.knobs;
    if (terminate === 'kept') return 'ended';
    if (terminate === 'fails') return 'failed';
    closePod(pod, { state: 'terminated', atMs: clock.nowMs(), why: 'Terminated by user' });
    save(pod);
    return terminate === 'ends-then-fails' ? 'failed' : 'ended';
  }

  function stop(pod: PodRecord): void {
    closePod(pod, { state: 'exited', atMs: clock.nowMs(), why: 'Exited by user' });
    save(pod);
  }

  /** A stopped pod is tied to its machine: without free cards there it cannot start again. */
  async function start(pod: PodRecord, bidMicroUsdPerGpu: number | null = null): Promise<boolean> {
    const here = { ...pod.request, gpuIds: pod.gpuId ? [pod.gpuId] : [], clouds: [pod.cloud] };
    const request = { ...here, dataCenterIds: [pod.dataCenterId] };
    if (pod.gpuId !== null && placePod(account.catalogue, account.pods.values(), request) === null)
      return false;
    const atMs = clock.nowMs();
    if (bidMicroUsdPerGpu !== null) pod.microUsdPerHour = bidMicroUsdPerGpu * pod.request.gpuCount;
    Object.assign(pod, {
      state: 'running',
      startedAtMs: atMs,
      containerExitedAtMs: null,
      graceUntilMs: null,
    });
    pod.stateChangedAtMs = atMs;
    pod.lastStatusChange = sentence('Resumed by user', atMs);
    pod.intervals.push({ fromMs: atMs, toMs: null, microUsdPerHour: pod.microUsdPerHour });
    // The outside port changes after a stop.
    await allotPorts(pod);
    save(pod);
    return true;
  }

  /** The container begins again; the pod bills on. */
  function restart(pod: PodRecord): void {
    pod.startedAtMs = clock.nowMs();
    pod.containerExitedAtMs = null;
    save(pod);
  }

  function outbid(id: string, look?: PodKnobs['outbidLook']): boolean {
    const pod = account.pods.get(id);
    if (pod?.state !== 'running') return false;
    if (look) pod.knobs.outbidLook = look;
    applyDue(pod, { kind: 'outbid', atMs: clock.nowMs() });
    save(pod);
    return true;
  }

  function exitContainer(id: string): boolean {
    const pod = account.pods.get(id);
    if (pod?.state !== 'running') return false;
    pod.containerExitedAtMs = clock.nowMs();
    save(pod);
    return true;
  }

  function visible(): PodRecord[] {
    const nowMs = clock.nowMs();
    return [...account.pods.values()].filter((pod) => observePod(pod, nowMs).visible);
  }

  return {
    settle,
    create,
    allotPorts,
    find,
    visible,
    end,
    stop,
    start,
    restart,
    outbid,
    exitContainer,
    save,
  };
}

function openPod(
  request: PodRequest,
  { placement, knobs, nowMs }: { placement: Placement | null; knobs: PodKnobs; nowMs: number },
): PodRecord {
  const id = randomId(14);
  const { bidMicroUsdPerGpu: bid, gpuCount } = request;
  const listed = placement === null ? CPU_MICRO_USD : (bid ?? placement.cell.microUsdPerHour) * gpuCount;
  const charged = knobs.chargedUsdPerHour;
  const microUsdPerHour = charged === null ? listed : microUsd(charged);
  return {
    id,
    podHostId: `${id}-${randomBytes(4).toString('hex')}`,
    machineId: randomId(12),
    apiKey: `rpa_${randomBytes(20).toString('hex')}`,
    request,
    gpuId: placement?.gpuId ?? null,
    cloud: placement?.cell.cloud ?? 'SECURE',
    dataCenterId: placement?.cell.dataCenterId ?? request.dataCenterIds[0] ?? 'EU-RO-1',
    cudaVersion: placement?.cell.cudaVersion ?? '12.8',
    microUsdPerHour,
    knobs,
    createdAtMs: nowMs,
    startedAtMs: nowMs,
    state: 'running',
    vanished: false,
    stateChangedAtMs: nowMs,
    lastStatusChange: sentence(bid === null ? 'Rented by User' : 'Bid by user', nowMs),
    graceUntilMs: null,
    containerExitedAtMs: null,
    ports: [],
    intervals: [{ fromMs: nowMs, toMs: null, microUsdPerHour }],
    process: null,
    processRunMs: null,
    locked: false,
  };
}

/** Of any CPU pod. */
const CPU_MICRO_USD = 60_000;

function refuseMoney({ knobs, pods }: Account, nowMs: number): CreateRefusal | null {
  if (knobs.balanceUsd !== null && knobs.balanceUsd <= 0) return 'no-balance';
  return spendRate(pods.values(), nowMs) >= microUsd(knobs.spendLimitUsdPerHour) ? 'spend-limit' : null;
}

/** Of all pods that bill now, in millionths of a dollar an hour. */
export function spendRate(pods: Iterable<PodRecord>, nowMs: number): number {
  let rate = 0;
  for (const { intervals } of pods) {
    const open = intervals.find(({ toMs }) => toMs === null || toMs > nowMs);
    rate += open?.microUsdPerHour ?? 0;
  }
  return rate;
}

const ENDS: { readonly [K in Exclude<DueEvent['kind'], 'outbid'>]: Omit<Closing, 'atMs'> } = {
  'terminate-after': { state: 'terminated', why: 'Terminated by Runpod' },
  'stop-after': { state: 'exited', why: 'Exited by Runpod' },
  exited: { state: 'exited', why: 'Exited by Runpod' },
};

function applyDue(pod: PodRecord, { kind, atMs }: DueEvent): void {
  if (kind !== 'outbid') {
    closePod(pod, { ...ENDS[kind], atMs });
    return;
  }
  const wasUp = observePod(pod, atMs).listening;
  closePod(pod, { state: 'exited', atMs, why: 'Outbid' });
  pod.vanished = pod.knobs.outbidLook === 'vanished';
  pod.graceUntilMs = wasUp ? atMs + OUTBID_GRACE_MS : null;
}

interface Closing {
  readonly state: 'exited' | 'terminated';
  readonly atMs: number;
  readonly why: string;
}

function closePod(pod: PodRecord, to: Closing): void {
  for (const interval of pod.intervals) interval.toMs ??= to.atMs;
  pod.state = to.state;
  pod.stateChangedAtMs = to.atMs;
  pod.graceUntilMs = null;
  pod.lastStatusChange = sentence(to.why, to.atMs);
}

/** The date as JavaScript writes it, because RunPod's own is. */
function sentence(words: string, atMs: number): string {
  return `${words}: ${new Date(atMs).toString()}`;
}

function parsePort(text: string): { private: number; type: 'tcp' | 'http' } {
  const [number, type] = text.split('/');
  return { private: Number(number), type: type === 'tcp' ? 'tcp' : 'http' };
}

const ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

export function randomId(length: number): string {
  return Array.from(randomBytes(length), (byte) => ID_LETTERS[byte % ID_LETTERS.length]).join('');
}
