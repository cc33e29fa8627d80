import { readFile } from 'node:fs/promises';

export interface CpuMeter {
  /** CPU time ÷ wall time of the last moments, 100 = one core; children count once they have ended. */
  percent(): number;
  stop(): void;
}

const EVERY_MS = 2_000;
/** What Linux promises to programs, whatever its own clock ticks at. */
const TICKS_PER_SECOND = 100;

export function startCpuMeter(monotonicMs: () => number): CpuMeter {
  let percent = 0;
  let last: { cpuMs: number; atMs: number } | null = null;

  async function measure(): Promise<void> {
    const now = { cpuMs: await readCpuMs(), atMs: monotonicMs() };
    if (last) percent = Math.max(0, Math.round((100 * (now.cpuMs - last.cpuMs)) / (now.atMs - last.atMs)));
    last = now;
  }

  void measure();
  const timer = setInterval(() => void measure(), EVERY_MS).unref();
  return { percent: () => percent, stop: () => clearInterval(timer) };
}

/** A CPU engine does its work in children; only Linux tells of them without asking each. */
async function readCpuMs(): Promise<number> {
  try {
    const stat = await readFile('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    return (1_000 * ticks) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}
