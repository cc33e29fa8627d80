import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { observeProcess, type ProcessIdentity } from '@pagefleet/runtime';

interface SessionMember {
  readonly identity: ProcessIdentity;
  readonly name: string;
}

/**
 * Every live process of the session that this leader opened, itself included. Pods open sessions of their own and are never
 * among them. The kernel gives no new process the number of a session that still has members, so members of a session
 * whose leader is gone are ours; where the number means another process now, the old session is over.
 */
export async function observeSession(leader: ProcessIdentity): Promise<SessionMember[]> {
  if (process.platform !== 'linux') return observeLeaderOnly(leader);
  if ((await machineBootId()) !== leader.bootId) return [];
  const now = await observeProcess(leader.pid);
  if (now && now.startTicks !== leader.startTicks) return [];
  const members: SessionMember[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || sessionOf(entry)?.session !== leader.pid) continue;
    const identity = await observeProcess(Number(entry));
    if (identity) members.push({ identity, name: sessionOf(entry)?.name ?? '' });
  }
  return members;
}

/** `pid (name) state ppid pgrp session …`; the name may hold anything. */
function sessionOf(pid: string): { session: number; name: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const session = Number(stat.slice(end + 2).split(' ')[3]);
    return { session, name: stat.slice(stat.indexOf('(') + 1, end) };
  } catch {
    return null;
  }
}

async function observeLeaderOnly(leader: ProcessIdentity): Promise<SessionMember[]> {
  const now = await observeProcess(leader.pid);
  const same = now && now.startTicks === leader.startTicks && now.bootId === leader.bootId;
  return same ? [{ identity: now, name: 'supervisord' }] : [];
}

async function machineBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}
