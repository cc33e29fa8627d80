import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Which process a pid meant when it was written down. Pids are used again, after a reboot at once; start time and boot
 * id tell the old holder from the new one.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** clock ticks since boot on Linux, milliseconds since 1970 elsewhere; only ever compared for equality */
  readonly startTicks: number;
  /** of the machine's present boot */
  readonly bootId: string;
}

/** The identity of a running process; null when there is none or only its zombie is left. */
export async function observeProcess(pid: number): Promise<ProcessIdentity | null> {
  if (!Number.isSafeInteger(pid) || pid < 1) return null;
  return process.platform === 'linux' ? observeOnLinux(pid) : observeByPs(pid);
}

export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  const now = await observeProcess(identity.pid);
  return now !== null && now.startTicks === identity.startTicks && now.bootId === identity.bootId;
}

/** Sends the signal if the pid still means the same process; false when it does not and nothing was sent. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isSameProcess(identity))) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function observeOnLinux(pid: number): Promise<ProcessIdentity | null> {
  const [stat, bootId] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8').catch(ifGone),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
  ]);
  if (stat === null) return null;
  const parsed = parseStat(stat);
  if (parsed === null || parsed.state === 'Z' || parsed.state === 'X') return null;
  return { pid, startTicks: parsed.startTicks, bootId: bootId.trim() };
}

/** The program's name stands in brackets and may itself hold blanks and brackets: fields are counted from the last one. */
export function parseStat(stat: string): { state: string; startTicks: number } | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTicks = Number(fields[19]);
  return state && Number.isSafeInteger(startTicks) ? { state, startTicks } : null;
}

async function observeByPs(pid: number): Promise<ProcessIdentity | null> {
  const [line, bootId] = await Promise.all([
    run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env: { ...process.env, LC_ALL: 'C' } }).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    ),
    run('sysctl', ['-n', 'kern.boottime']).then(({ stdout }) => stdout.trim()),
  ]);
  const match = /^(\S+)\s+(.+)$/.exec(line);
  if (!match?.[1] || !match[2] || match[1].startsWith('Z')) return null;
  return { pid, startTicks: Date.parse(match[2]), bootId };
}

function ifGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
  throw error;
}
