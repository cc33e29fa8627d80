import { readFile } from 'node:fs/promises';

/** Clock ticks per second of /proc; fixed at 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** CPU time a process has used in all its threads, user and system, in microseconds. Linux only. */
export async function processCpuMicros(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The program name is in brackets and may hold spaces: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return (ticks * 1_000_000) / TICKS_PER_SECOND;
}
