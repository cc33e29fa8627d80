import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@pagefleet/client';
import { type ClusterFile, PagefleetError } from '@pagefleet/contract';
import { type ClusterPaths, isSameProcess } from '@pagefleet/runtime';
import { endpointUrl } from './endpoint.ts';
import { readGroup } from './group.ts';
import { readOperatorToken } from './prepare-cluster.ts';

interface WaitOptions {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

const POLL_MS = 150;
const SAY_EVERY_MS = 5_000;
const DEADLINE_MS = 120_000;

/** Waits until /healthz answers through nginx and a worker takes pages, and says what it waits for. */
export async function waitReady(
  paths: ClusterPaths,
  cluster: ClusterFile,
  options: WaitOptions,
): Promise<void> {
  const client = createClient({ url: endpointUrl(cluster), token: readOperatorToken(cluster) });
  try {
    await poll(() => whatIsMissing(client, cluster, options.signal), paths, options);
  } finally {
    await client.close();
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
async function whatIsMissing(
  client: Client,
  cluster: ClusterFile,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    await client.health(signal);
    const { workers } = await client.status(signal);
    const isOrdinary = (worker: number): boolean => worker >= 0 || cluster.config.workers === 0;
    const takesPages = workers.some(({ worker, state }) => isOrdinary(worker) && state === 'listening');
    return takesPages ? null : 'the controller answers, no worker takes pages yet';
  } catch (error) {
    if (!(error instanceof PagefleetError)) return String(error);
    return error.details.status === null
      ? 'nginx does not listen yet'
      : `nginx answers, the controller does not yet (${error.code})`;
  }
}

function lastWords(paths: ClusterPaths): string {
  try {
    return readFileSync(`${paths.logsDir}/supervisord.out`, 'utf8').trim().split('\n').slice(-3).join(' | ');
  } catch {
    return 'it left no word';
  }
}
