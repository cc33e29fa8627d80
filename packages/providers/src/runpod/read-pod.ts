import { decodePodMark } from '@pagefleet/runtime';
import type { ListedPod, RentedMachine, RentRequest } from '../port.ts';
import type { ApiName } from './api-call.ts';
import { type PodPort, podAddress } from './pod-address.ts';
import { isRecord } from './read-complaint.ts';

export interface PodContext {
  readonly nowMs: () => number;
  /** the API itself is on this machine, so its pods are too */
  readonly loopbackIsPublic: boolean;
  /** when a pod was first met that does not say since when it exists, by id */
  readonly firstSeenMs: Map<string, number>;
}

/** What both APIs say of a pod, in one form. */
interface Said {
  readonly id: string;
  readonly name: string;
  readonly word: string;
  readonly detail: string;
  readonly env: Readonly<Record<string, string>>;
  readonly exposed: readonly string[];
  readonly mapped: readonly PodPort[];
  readonly price: unknown;
  readonly card: string | null;
  readonly cloud: ListedPod['cloud'];
  /** the first that is a time counts */
  readonly times: readonly unknown[];
}

type Entry = Readonly<Record<string, unknown>>;

/** The words of both APIs (contract 2.7, 4.7). One that is not here is a pod that exists. */
const STATUS: Readonly<Record<string, ListedPod['status'] | 'gone'>> = {
  CREATED: 'starting',
  PROVISIONING: 'starting',
  STARTING: 'starting',
  RESTARTING: 'starting',
  RUNNING: 'running',
  EXITED: 'exited',
  PAUSED: 'exited',
  ERROR: 'exited',
  DEAD: 'exited',
  TERMINATED: 'gone',
};

/** One entry of a listing; null: the pod is gone. Throws where it is no pod, as the listing is then not understood. */
export function readListedPod(entry: unknown, api: ApiName, context: PodContext): ListedPod | null {
  if (!isRecord(entry) || typeof entry.id !== 'string' || entry.id === '')
    throw new TypeError('an entry of the listing has no id');
  const said = api === 'rest' ? readRest(entry, entry.id) : readGraphql(entry, entry.id);
  const status = STATUS[said.word] ?? 'running';
  if (status === 'gone') return null;
  return {
    id: said.id,
    name: said.name,
    mark: decodePodMark(said.env),
    // A stopped pod may go on showing the ports it had.
    url: said.word === 'RUNNING' ? podAddress(said, context) : null,
    createdAtMs: createdAtMs(said, context),
    priceUsdPerHour: readPrice(said.price, status),
    status,
    card: said.card,
    cloud: said.cloud,
    detail: said.detail,
  };
}

/** What a create answered, with what was asked for where it does not say. */
export function readRentedPod(
  { id, pod }: { id: string; pod: Entry },
  asked: { request: RentRequest; api: ApiName; context: PodContext },
): ListedPod {
  const { request, api, context } = asked;
  const said = api === 'rest' ? readRest(pod, id) : readGraphql(pod, id);
  const { card, cloud } = (request.machine as RentedMachine).offer;
  const { mark } = request;
  return {
    ...{ id, name: mark.name, mark, url: null, status: 'starting' },
    createdAtMs: createdAtMs(said, context),
    priceUsdPerHour: readPrice(said.price, 'starting'),
    card: said.card ?? card,
    cloud: said.cloud ?? cloud,
    detail: said.detail || 'rented',
  };
}

function readRest(pod: Entry, id: string): Said {
  const gpu = isRecord(pod.gpu) ? pod.gpu : {};
  const runtime = isRecord(pod.runtime) ? pod.runtime : {};
  const word = textOf(pod.status).toUpperCase();
  return {
    id,
    name: textOf(pod.name),
    word,
    detail: textOf(pod.lastStatusChange) || word,
    env: readEnv(pod.env),
    exposed: listOf(pod.ports).filter((port) => typeof port === 'string'),
    mapped: listOf(runtime.ports)
      .filter(isRecord)
      .map((port) => ({
        privatePort: numberOf(port.private),
        publicPort: numberOf(port.public),
        ip: textOf(port.ip) || null,
        isIpPublic: null,
      })),
    price: pod.cost,
    card: textOf(gpu.id) || null,
    cloud: cloudOf(textOf(pod.cloud)),
    times: [pod.createdAt, pod.startedAt],
  };
}

function readGraphql(pod: Entry, id: string): Said {
  const machine = isRecord(pod.machine) ? pod.machine : {};
  const runtime = isRecord(pod.runtime) ? pod.runtime : {};
  const word = textOf(pod.desiredStatus).toUpperCase();
  const { secureCloud } = machine;
  return {
    id,
    name: textOf(pod.name),
    word,
    detail: textOf(pod.lastStatusChange) || word,
    env: readEnv(pod.env),
    exposed: textOf(pod.ports)
      .split(',')
      .map((port) => port.trim()),
    mapped: listOf(runtime.ports)
      .filter(isRecord)
      .map((port) => ({
        privatePort: numberOf(port.privatePort),
        publicPort: numberOf(port.publicPort),
        ip: textOf(port.ip) || null,
        isIpPublic: typeof port.isIpPublic === 'boolean' ? port.isIpPublic : null,
      })),
    price: pod.costPerHr,
    card: textOf(machine.gpuTypeId) || null,
    cloud: typeof secureCloud === 'boolean' ? (secureCloud ? 'secure' : 'community') : null,
    times: [pod.createdAt, pod.lastStartedAt],
  };
}

/** An object, or GraphQL's list of `KEY=VALUE`. */
function readEnv(env: unknown): Record<string, string> {
  const pairs = Array.isArray(env)
    ? env
        .filter((line) => typeof line === 'string')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
    : isRecord(env)
      ? Object.entries(env).filter((pair) => typeof pair[1] === 'string')
      : [];
  return Object.fromEntries(pairs);
}

/** A machine that runs is never free: 0 is a price that is not known yet (contract 8, row 9). */
function readPrice(price: unknown, status: ListedPod['status']): number | null {
  const usd = typeof price === 'string' ? Number(price || Number.NaN) : price;
  if (typeof usd !== 'number' || !Number.isFinite(usd) || usd < 0) return null;
  return usd > 0 || status === 'exited' ? usd : null;
}

function createdAtMs({ id, times }: Said, { firstSeenMs, nowMs }: PodContext): number {
  const said = times.map(parseTime).find((time) => time !== null);
  if (said !== undefined) return said;
  const seenMs = firstSeenMs.get(id) ?? nowMs();
  firstSeenMs.set(id, seenMs);
  return seenMs;
}

/** RFC 3339, or Go's own `2026-08-20 06:16:19.436 +0000 UTC` with any number of fraction digits. */
export function parseTime(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const go = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)? ([+-]\d\d):?(\d\d)/.exec(value);
  const [, day, time, fraction = '', hours, minutes] = go ?? [];
  const text = go === null ? value : `${day}T${time}${fraction.slice(0, 4)}${hours}:${minutes}`;
  const ms = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

function cloudOf(word: string): ListedPod['cloud'] {
  return word === 'SECURE' ? 'secure' : word === 'COMMUNITY' ? 'community' : null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}
