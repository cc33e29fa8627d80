import { writeSync } from 'node:fs';
import { threadId, workerData } from 'node:worker_threads';
import { monotonicMs } from '../monotonic.ts';
import { decideWatchdog, initialWatchdog, type WatchdogAction } from './decide-watchdog.ts';
import { readMainStack } from './read-main-stack.ts';
import type { WatchdogData } from './watchdog-data.ts';

/** The program of the watchdog's thread; see `startWatchdog`. */
const data = workerData as WatchdogData;
const counter = new Int32Array(data.beats);
const tickMs = Math.max(10, Math.min(250, data.stallMs / 4));
const STACK_TIMEOUT_MS = 5_000;

let state = initialWatchdog(monotonicMs(), Atomics.load(counter, 0));
let reading: Promise<string[] | null> | null = null;

const timer = setInterval(() => {
  const seen = { nowMs: monotonicMs(), beat: Atomics.load(counter, 0) };
  const next = decideWatchdog(state, seen, { ...data, tickMs });
  state = next.state;
  void apply(next.action);
}, tickMs);
timer.ref();

async function apply(action: WatchdogAction): Promise<void> {
  switch (action.kind) {
    case 'none':
      return;
    case 'starved':
      return print('warn', 'loop_starved', {
        starvedMs: Math.round(action.starvedMs),
        note: 'the whole process did not run; the loop is not at fault',
      });
    case 'recovered':
      return print('warn', 'loop_recovered', { silentMs: Math.round(action.silentMs) });
    case 'report':
      return report('error', 'loop_blocked', action.silentMs);
    case 'end':
      clearInterval(timer);
      await report('fatal', 'loop_hung', action.silentMs);
      process.kill(process.pid, 'SIGKILL');
  }
}

async function report(level: string, event: string, silentMs: number): Promise<void> {
  // A second stack is not asked for while one is awaited: the answer would be the same.
  reading ??= readMainStack(STACK_TIMEOUT_MS)
    .catch(() => null)
    .finally(() => {
      reading = null;
    });
  const stack = await reading;
  const note = stack ? {} : { note: 'no stack: the thread is inside native code or a system call' };
  print(level, event, { silentMs: Math.round(silentMs), stack, ...note });
}

/** Like a line of the logger, which belongs to the blocked thread. */
function print(level: string, event: string, fields: Record<string, unknown>): void {
  const time = new Date().toISOString();
  const line = { level, time, component: data.name, pid: process.pid, threadId, ...fields, event };
  try {
    writeSync(2, `${JSON.stringify(line)}\n`);
  } catch {
    // Nobody reads standard error: there is no place left to say so.
  }
}
