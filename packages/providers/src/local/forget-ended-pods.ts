import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@pagefleet/runtime';
import type { EndedPod } from './list-account.ts';

const KEEP_PODS = 50;
const KEEP_MS = 7 * 24 * 3_600_000;
/** Half made folders are left by a renter that died; no renter needs this long. */
const HALF_MADE_MS = 600_000;

/** Which ended pods are no longer kept for their logs: all but the newest 50, and what is older than a week. */
export function decideForgotten(ended: readonly EndedPod[], nowMs: number): string[] {
  return [...ended]
    .sort((a, b) => b.endedAtMs - a.endedAtMs)
    .filter((pod, index) => index >= KEEP_PODS || nowMs - pod.endedAtMs > KEEP_MS)
    .map((pod) => pod.id);
}

/** Removes their folders. Renamed first, so that no listing sees half a folder; several processes may do it at once. */
export async function forgetEndedPods(
  accountDir: string,
  ended: readonly EndedPod[],
  options: { nowMs: number; logger: Logger },
): Promise<void> {
  try {
    for (const id of decideForgotten(ended, options.nowMs)) {
      const doomed = join(accountDir, `.old-${id}-${randomUUID().slice(0, 8)}`);
      await rename(join(accountDir, id), doomed).then(
        () => rm(doomed, { recursive: true, force: true }),
        ignoreAbsence,
      );
    }
    for (const name of await readdir(accountDir)) {
      if (!name.startsWith('.new-') && !name.startsWith('.old-')) continue;
      const path = join(accountDir, name);
      const found = await stat(path).catch(ignoreAbsence);
      if (found && options.nowMs - found.mtimeMs > HALF_MADE_MS)
        await rm(path, { recursive: true, force: true });
    }
  } catch (err) {
    options.logger.warn({ err }, 'ended_pods_not_cleared');
  }
}

function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
