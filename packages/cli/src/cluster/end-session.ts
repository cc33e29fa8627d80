import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessIdentity, signalProcess } from '@pagefleet/runtime';
import { observeSession } from './session.ts';

interface EndOptions {
  /** how long a polite end may take before SIGKILL */
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
  readonly say?: (line: string) => void;
}

const POLL_MS = 100;
const KILL_PATIENCE_MS = 5_000;

/**
 * Ends a whole session. While supervisord lives, it is asked and stops its programs in order; without it each member is
 * asked itself. What outstays the patience is killed. Returns what is left, which is nothing but after an abort.
 */
export async function endSession(leader: ProcessIdentity, options: EndOptions): Promise<ProcessIdentity[]> {
  const { patienceMs, signal, say } = options;
  const members = await observeSession(leader);
  const isLed = members.some(({ identity }) => identity.pid === leader.pid);
  for (const { identity, name } of members) {
    if (isLed && identity.pid !== leader.pid) continue;
    await signalProcess(identity, politeSignal(name));
  }
  if (await waitUntilGone(leader, patienceMs, signal)) return [];
  if (signal?.aborted) return (await observeSession(leader)).map(({ identity }) => identity);

  for (const { identity, name } of await observeSession(leader)) {
    say?.(
      `${name} (process ${identity.pid}) did not end in ${Math.round(patienceMs / 1_000)} s and is killed`,
    );
    await signalProcess(identity, 'SIGKILL');
  }
  await waitUntilGone(leader, KILL_PATIENCE_MS, signal);
  return (await observeSession(leader)).map(({ identity }) => identity);
}

/** nginx takes SIGTERM for "drop everything" and SIGQUIT for "finish first". */
function politeSignal(name: string): NodeJS.Signals {
  return name === 'nginx' ? 'SIGQUIT' : 'SIGTERM';
}

async function waitUntilGone(
  leader: ProcessIdentity,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while ((await observeSession(leader)).length > 0) {
    if (performance.now() > deadline || signal?.aborted) return false;
    await sleep(POLL_MS);
  }
  return true;
}
