import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@pagefleet/client';
import { type ClusterFile, PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, isSameProcess } from '@pagefleet/runtime';
import { controllerUrl, endpointUrl } from './endpoint.ts';
import { readGroup } from './group.ts';
import { readOperatorToken } from './prepare-cluster.ts';

interface WaitOptions {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

const POLL_MS = 150;
const SAY_EVERY_MS = 5_000;
const DEADLINE_MS = 120_000;

/**
 * Waits until a worker takes pages and /healthz answers through nginx, and says what it waits for. nginx is asked last: each
 * request for a server that is not there yet is an error in its log.
 */
export async function waitReady(
  paths: ClusterPaths,
  cluster: ClusterFile,
  options: WaitOptions,
): Promise<void> {
  const token = readOperatorToken(cluster);
  const controller = createClient({ url: controllerUrl(cluster), token });
  const door = createClient({ url: endpointUrl(cluster), token });
  const { signal } = options;
  const missingNow = async (): Promise<string | null> =>
    (await missingBehind(controller, cluster, signal)) ?? (await missingAtTheDoor(door, signal));
  try {
    await poll(missingNow, paths, options);
  } finally {
    await Promise.all([controller.close(), door.close()]);
  }
}

async function poll(
  missingNow: () => Promise<string | null>,
  paths: ClusterPaths,
  { say, signal }: WaitOptions,
): Promise<void> {
  const startedMs = performance.now();
  let saidMs = startedMs;
  for (;;) {
    const missing = await missingNow();
    signal.throwIfAborted();
    if (missing === null) return;
    const group = readGroup(paths);
    if (!group || !(await isSameProcess(group))) {
      throw new PagefleetError('internal', `supervisord ended: ${lastWords(paths)}`);
    }
    const nowMs = performance.now();
    if (nowMs - startedMs > DEADLINE_MS) {
      throw new PagefleetError(
        'timeout',
        `The cluster is not ready after ${DEADLINE_MS / 1_000} s: ${missing}. The logs are in ${paths.logsDir}.`,
      );
    }
    if (nowMs - saidMs > SAY_EVERY_MS) {
      say(`waiting: ${missing}`);
      saidMs = nowMs;
    }
    await sleep(POLL_MS);
  }
}

/** null = nothing */
async function missingBehind(
  controller: Client,
  cluster: ClusterFile,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const { workers } = await controller.status(signal);
    const isOrdinary = (worker: number): boolean => worker >= 0 || cluster.config.workers === 0;
    const takesPages = workers.some(({ worker, state }) => isOrdinary(worker) && state === 'listening');
    return takesPages ? null : 'the controller answers, no worker takes pages yet';
  } catch (error) {
    return `the controller does not answer yet (${codeOf(error)})`;
  }
}

async function missingAtTheDoor(door: Client, signal: AbortSignal): Promise<string | null> {
  try {
    await door.health(signal);
    return null;
  } catch (error) {
    return `workers take pages, nginx does not yet (${codeOf(error)})`;
  }
}

function codeOf(error: unknown): string {
  return error instanceof PagefleetError ? error.code : String(error);
}

function lastWords(paths: ClusterPaths): string {
  try {
    return readFileSync(paths.logFile('supervisord'), 'utf8').trim().split('\n').slice(-3).join(' | ');
  } catch {
    return 'it left no word';
  }
}
