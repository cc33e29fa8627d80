import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterFile, PagefleetError } from '@pagefleet/contract';
import {
  type ClusterPaths,
  makeFolder,
  observeProcess,
  programPath,
  realNodeBinary,
  writeFileAtomic,
} from '@pagefleet/runtime';
import { isRehearsal, type RehearsalCloud, rehearsalConfig } from './rehearsal-config.ts';
import { runningCloud } from './running-cloud.ts';

const START_PATIENCE_MS = 15_000;
const POLL_MS = 50;
/** The image is here already; what a pod waits for is shown, not endured. */
const BOOT_MS = 4_000;
const LISTENER_DELAY_MS = 500;

/**
 * The pretended RunPod as a process of its own session, like a cloud apart from the cluster: it outlives a killed group and
 * a `down --keep-pods`, and its table is kept in the state directory. One that runs already is used.
 */
export async function startRehearsalCloud(paths: ClusterPaths): Promise<RehearsalCloud> {
  makeFolder(paths.rehearsalDir, 0o700);
  const apiKeyFile = join(paths.rehearsalDir, 'api-key');
  if (!existsSync(apiKeyFile)) {
    await writeFileAtomic(apiKeyFile, `rpa_rehearsal_${randomBytes(16).toString('hex')}\n`, 0o600);
  }
  if ((await runningCloud(paths)) === null)
    await startProcess(paths, readFileSync(apiKeyFile, 'utf8').trim());
  return { url: await untilItServes(paths), apiKeyFile };
}

/** The cluster with its account at hand: a pretended cloud that has ended, or was killed, is started again on its table. */
export async function withItsCloud(paths: ClusterPaths, cluster: ClusterFile): Promise<ClusterFile> {
  if (!isRehearsal(cluster)) return cluster;
  return { ...cluster, config: rehearsalConfig(cluster.config, await startRehearsalCloud(paths)) };
}

async function startProcess(paths: ClusterPaths, key: string): Promise<void> {
  const optionsFile = join(paths.rehearsalDir, 'options.json');
  const pod = { bootMs: BOOT_MS, listenerDelayMs: LISTENER_DELAY_MS };
  const options = { stateDir: paths.rehearsalDir, apiKeys: [{ key, mayWrite: true }], knobs: { pod } };
  await writeFileAtomic(optionsFile, JSON.stringify(options), 0o600);
  const log = openSync(paths.logFile('fake-runpod'), 'a', 0o600);
  const child = spawn(realNodeBinary(), [programPath('sim'), optionsFile], {
    cwd: paths.rehearsalDir,
    detached: true,
    stdio: ['ignore', log, log],
  });
  await once(child, 'spawn');
  child.unref();
  const identity = child.pid === undefined ? null : await observeProcess(child.pid);
  if (identity === null) throw notUp(paths);
  await writeFileAtomic(join(paths.rehearsalDir, 'process.json'), JSON.stringify(identity), 0o600);
}

/** Its admin page answers: the port in the file is of this life. */
async function untilItServes(paths: ClusterPaths): Promise<string> {
  const deadline = performance.now() + START_PATIENCE_MS;
  while (performance.now() < deadline) {
    const port = readPort(paths);
    const url = `http://127.0.0.1:${port}`;
    if (port > 0 && (await fetch(`${url}/_fake/clock`).catch(() => null))?.ok) return url;
    if ((await runningCloud(paths)) === null) break;
    await sleep(POLL_MS);
  }
  throw notUp(paths);
}

function readPort(paths: ClusterPaths): number {
  try {
    return Number(readFileSync(join(paths.rehearsalDir, 'port'), 'utf8')) || 0;
  } catch {
    return 0;
  }
}

function notUp(paths: ClusterPaths): PagefleetError {
  return new PagefleetError(
    'internal',
    `The pretended RunPod did not start; see ${paths.logFile('fake-runpod')}.`,
  );
}
