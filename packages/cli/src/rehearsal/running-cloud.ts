import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterPaths, isSameProcess, type ProcessIdentity, signalProcess } from '@pagefleet/runtime';

const END_PATIENCE_MS = 15_000;
const POLL_MS = 50;

/** The process of the pretended RunPod; null when none runs, or there never was a rehearsal here. */
export async function runningCloud(paths: ClusterPaths): Promise<ProcessIdentity | null> {
  const identity = readIdentity(paths);
  return identity !== null && (await isSameProcess(identity)) ? identity : null;
}

/** Ends it once its table is empty; its pods, if it had any, would be left without a cloud. */
export async function endRehearsalCloud(paths: ClusterPaths): Promise<void> {
  const identity = await runningCloud(paths);
  if (identity === null) return;
  await signalProcess(identity, 'SIGTERM');
  const deadline = performance.now() + END_PATIENCE_MS;
  while (performance.now() < deadline && (await isSameProcess(identity))) await sleep(POLL_MS);
}

function readIdentity(paths: ClusterPaths): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(join(paths.rehearsalDir, 'process.json'), 'utf8')) as ProcessIdentity;
  } catch {
    return null;
  }
}
