import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { observeProcess, type ProcessIdentity, programPath } from '@pagefleet/runtime';

/** What a process of the session is for; `other` is one that has not become its program yet. */
export type MemberKind = 'supervisord' | 'nginx' | 'worker' | 'controller' | 'nats' | 'other';

export interface SessionMember {
  readonly identity: ProcessIdentity;
  readonly name: string;
  readonly kind: MemberKind;
  readonly parentPid: number;
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
  for (const pid of listPids()) {
    const stat = readStat(pid);
    if (stat?.session !== leader.pid) continue;
    const identity = await observeProcess(pid);
    if (!identity) continue;
    const kind = pid === leader.pid ? 'supervisord' : kindOf(stat.name, commandOf(pid));
    members.push({ identity, name: stat.name, kind, parentPid: stat.parentPid });
  }
  return members;
}

export function listPids(): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
}

interface Stat {
  readonly name: string;
  readonly session: number;
  readonly parentPid: number;
  readonly startTicks: number;
}

/** `pid (name) state ppid pgrp session …`; the name may hold anything. */
export function readStat(pid: number): Stat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    return {
      name: stat.slice(stat.indexOf('(') + 1, end),
      session: Number(fields[3]),
      parentPid: Number(fields[1]),
      startTicks: Number(fields[19]),
    };
  } catch {
    return null;
  }
}

/** Arguments by blanks; empty for a process that is gone or not ours to read. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function kindOf(name: string, command: string): MemberKind {
  if (name === 'nginx' || command.includes('run-nginx.sh')) return 'nginx';
  if (name === 'nats-server') return 'nats';
  if (command.includes(programPath('controller'))) return 'controller';
  return command.includes(programPath('worker')) ? 'worker' : 'other';
}

async function observeLeaderOnly(leader: ProcessIdentity): Promise<SessionMember[]> {
  const now = await observeProcess(leader.pid);
  const same = now && now.startTicks === leader.startTicks && now.bootId === leader.bootId;
  return same ? [{ identity: now, name: 'supervisord', kind: 'supervisord', parentPid: 1 }] : [];
}

async function machineBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}
