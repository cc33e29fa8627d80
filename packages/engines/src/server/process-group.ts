import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { observeProcess } from '@pagefleet/runtime';

const LOOK_EVERY_MS = 50;
/** A process that was killed and is still there after this hangs in the kernel. */
const KILL_MS = 10_000;

/**
 * Ends a process group in order: SIGTERM to all, a grace for its leader, SIGKILL to who is left; resolves when nobody is.
 * `pgid` is the pid of the leader. Throws when somebody stays: whoever starts the next one must not go on.
 */
export async function endGroup(pgid: number, graceMs: number): Promise<void> {
  if (!signalGroup(pgid, 'SIGTERM')) return;
  await isWithin(graceMs, async () => (await observeProcess(pgid)) === null);
  signalGroup(pgid, 'SIGKILL');
  if (await isWithin(KILL_MS, async () => !(await hasLivingMember(pgid)))) return;
  throw new Error(`the process group ${pgid} does not end: killed ${KILL_MS} ms ago`);
}

/** False: there is no such group. */
function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function isWithin(ms: number, holds: () => Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() >= endMs) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}

/** In a container nobody may collect the dead: zombies count as gone. Elsewhere than on Linux init collects them. */
async function hasLivingMember(pgid: number): Promise<boolean> {
  if (!signalGroup(pgid, 0)) return false;
  if (process.platform !== 'linux') return true;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(group) === pgid && state !== 'Z' && state !== 'X') return true;
  }
  return false;
}
