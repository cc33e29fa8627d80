import { readFileSync, readlinkSync } from 'node:fs';
import { type ClusterPaths, type ProcessIdentity, programPath } from '@pagefleet/runtime';
import { commandOf, listPids, readStat } from './session.ts';

/**
 * The session of this state directory as the processes themselves show it, without any file: what supervisord started
 * carries `PAGEFLEET_STATE` in its environment and a program of ours in its command. Only on Linux; elsewhere null.
 */
export function findSession(paths: ClusterPaths): ProcessIdentity | null {
  if (process.platform !== 'linux') return null;
  const own = readStat(process.pid)?.session;
  for (const pid of listPids()) {
    const session = readStat(pid)?.session;
    if (!session || session === own || !isOfState(pid, paths)) continue;
    const leader = readStat(session);
    // A program that somebody started by hand is in the session of a terminal, and that is not ours to end.
    if (leader && !isSupervisord(session, paths)) continue;
    return { pid: session, startTicks: leader?.startTicks ?? 0, bootId: readBootId() };
  }
  return null;
}

function isOfState(pid: number, paths: ClusterPaths): boolean {
  // nginx writes its title over its environment; nothing else runs it in there.
  if (readStat(pid)?.name === 'nginx') return workingFolderOf(pid) === paths.nginxDir;
  const command = commandOf(pid);
  const programs = [
    paths.supervisorConfFile,
    paths.natsConfFile,
    programPath('controller'),
    programPath('worker'),
  ];
  return programs.some((program) => command.includes(program)) && hasState(pid, paths);
}

function isSupervisord(pid: number, paths: ClusterPaths): boolean {
  return commandOf(pid).includes(paths.supervisorConfFile) && hasState(pid, paths);
}

function hasState(pid: number, { stateDir }: ClusterPaths): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`PAGEFLEET_STATE=${stateDir}`);
  } catch {
    return false;
  }
}

function workingFolderOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
