import { setTimeout as sleep } from 'node:timers/promises';
import { type ProcessIdentity, signalProcess } from '@pagefleet/runtime';
import { type Asked, decideAsks, KIND_PATIENCE_MS } from './decide-asks.ts';
import { observeSession, type SessionMember } from './session.ts';

interface EndOptions {
  /** how long a polite end may take before SIGKILL */
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
  readonly say?: (line: string) => void;
}

const POLL_MS = 100;
const SAY_EVERY_MS = 10_000;
const KILL_PATIENCE_MS = 5_000;

/**
 * Ends a whole session. While supervisord lives, it is asked and stops its programs in order; what it waits for is asked
 * again beside it, and without it each is asked itself. What outstays its patience is killed. Returns what is left,
 * which is nothing but after an abort.
 */
export async function endSession(leader: ProcessIdentity, options: EndOptions): Promise<ProcessIdentity[]> {
  const { patienceMs, signal, say } = options;
  if (await askUntilGone(leader, options)) return [];
  if (signal?.aborted) return (await observeSession(leader)).map(({ identity }) => identity);

  await killAll(await observeSession(leader), patienceMs, say);
  const deadline = performance.now() + KILL_PATIENCE_MS;
  while ((await observeSession(leader)).length > 0 && performance.now() < deadline && !signal?.aborted) {
    await sleep(POLL_MS);
  }
  return (await observeSession(leader)).map(({ identity }) => identity);
}

async function askUntilGone(
  leader: ProcessIdentity,
  { patienceMs, signal, say }: EndOptions,
): Promise<boolean> {
  const startMs = performance.now();
  const asked: Asked = new Map();
  const killed = new Set<number>();
  let saidMs = startMs;
  for (;;) {
    const members = await observeSession(leader);
    if (members.length === 0) return true;
    const nowMs = performance.now();
    const { ask, kill } = decideAsks(members, asked, nowMs);
    for (const member of ask) await askOne(member, asked, nowMs);
    const toKill = kill.filter(({ identity }) => !killed.has(identity.pid));
    await killAll(toKill, KIND_PATIENCE_MS, say);
    for (const { identity } of toKill) killed.add(identity.pid);
    if (nowMs - startMs > patienceMs || signal?.aborted) return false;
    if (nowMs - saidMs >= SAY_EVERY_MS) {
      say?.(`waiting for ${describeMembers(members)} to end`);
      saidMs = nowMs;
    }
    await sleep(POLL_MS);
  }
}

async function askOne({ identity, kind }: SessionMember, asked: Asked, nowMs: number): Promise<void> {
  asked.set(identity.pid, { firstMs: asked.get(identity.pid)?.firstMs ?? nowMs, lastMs: nowMs });
  // nginx takes SIGTERM for "drop everything" and SIGQUIT for "finish first".
  await signalProcess(identity, kind === 'nginx' ? 'SIGQUIT' : 'SIGTERM');
}

async function killAll(
  members: readonly SessionMember[],
  patienceMs: number,
  say: EndOptions['say'],
): Promise<void> {
  for (const { identity, name, kind } of members) {
    const what = kind === 'other' ? name : kind;
    say?.(
      `${what} (process ${identity.pid}) did not end in ${Math.round(patienceMs / 1_000)} s and is killed`,
    );
    await signalProcess(identity, 'SIGKILL');
  }
}

/** `nginx (process 12), worker (13, 14)` */
function describeMembers(members: readonly SessionMember[]): string {
  const byKind = new Map<string, number[]>();
  for (const { identity, name, kind } of members) {
    const what = kind === 'other' ? name : kind;
    byKind.set(what, [...(byKind.get(what) ?? []), identity.pid]);
  }
  return [...byKind].map(([what, pids]) => `${what} (process ${pids.join(', ')})`).join(', ');
}
