import { PagefleetError } from '@pagefleet/contract';
import type { ListedPod } from '../port.ts';
import { observePod } from './observe-pod.ts';
import { openPodFolder, type PodFolder, type PodRecord, readPodIds } from './pod-folder.ts';

export interface AccountListing {
  readonly pods: ListedPod[];
  /** pods that are gone and whose folders are still kept for their logs */
  readonly ended: readonly EndedPod[];
}

export interface EndedPod {
  readonly id: string;
  readonly endedAtMs: number;
}

/** Reads the whole account, or throws `provider_failed`. */
export async function listAccount(accountDir: string, nowMs: number): Promise<AccountListing> {
  try {
    const ids = await readPodIds(accountDir);
    const found = await Promise.all(ids.map((id) => listPod(openPodFolder(accountDir, id), id, nowMs)));
    return {
      pods: found.filter((pod) => 'name' in pod),
      ended: found.filter((pod) => 'endedAtMs' in pod),
    };
  } catch (cause) {
    if (cause instanceof PagefleetError) throw cause;
    throw new PagefleetError('provider_failed', `the account of local pods cannot be read: ${accountDir}`, {
      cause,
    });
  }
}

async function listPod(folder: PodFolder, id: string, nowMs: number): Promise<ListedPod | EndedPod> {
  try {
    const record = await folder.readRecord();
    const { life } = await observePod(folder, record.createdAtMs, nowMs);
    if (life === 'gone') return await toEnded(folder, id, 'its process is gone', nowMs);
    if (life !== 'forsaken') return await toListed(folder, record, life);
    return await giveUp(folder, record, nowMs);
  } catch (error) {
    // Another process may have cleared an ended pod away in the meantime.
    if (!(await folder.exists())) return { id, endedAtMs: 0 };
    throw error;
  }
}

/** A pod that nobody has seen start: once the mark is there it cannot start any more, unless it did just before. */
async function giveUp(folder: PodFolder, record: PodRecord, nowMs: number): Promise<ListedPod | EndedPod> {
  await folder.writeExit('it never started', nowMs);
  const { life } = await observePod(folder, record.createdAtMs, nowMs);
  return life === 'gone' ? toEnded(folder, record.id, '', nowMs) : toListed(folder, record, life);
}

async function toListed(folder: PodFolder, record: PodRecord, life: string): Promise<ListedPod> {
  const port = await folder.readPort();
  return {
    id: record.id,
    name: record.name,
    mark: record.mark,
    url: port === null ? null : urlOf(reachableHost(record.host), port),
    createdAtMs: record.createdAtMs,
    priceUsdPerHour: 0,
    status: life === 'creating' ? 'starting' : 'running',
    card: null,
    cloud: null,
    detail: life,
  };
}

async function toEnded(folder: PodFolder, id: string, reason: string, nowMs: number): Promise<EndedPod> {
  // Without the mark the pod is gone all the same: only its age is not known then.
  const mark = await folder.writeExit(reason, nowMs).catch(() => null);
  return { id, endedAtMs: mark?.atMs ?? nowMs };
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
