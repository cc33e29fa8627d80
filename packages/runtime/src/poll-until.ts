import { setTimeout as sleep } from 'node:timers/promises';
import { PagefleetError } from '@pagefleet/contract';
import { monotonicMs } from './monotonic.ts';

export interface PollClock {
  nowMs(): number;
  /** rejects when the signal is raised */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const realClock: PollClock = {
  nowMs: monotonicMs,
  sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
};

export interface PollOptions<T> {
  /** `undefined` means not yet; `n` counts from 1. What it throws ends the wait. */
  readonly poll: (n: number) => Promise<T | undefined>;
  readonly intervalMs: number;
  /** length of the whole wait, from now */
  readonly deadlineMs: number;
  readonly clock?: PollClock;
  readonly signal?: AbortSignal;
}

/**
 * One poll per turn. The deadline is looked at only after a poll that did not succeed, so an answer that is there is
 * never thrown away for being late, and even a deadline of 0 polls once.
 */
export async function pollUntil<T>(options: PollOptions<T>): Promise<T> {
  const { poll, intervalMs, deadlineMs, clock = realClock, signal } = options;
  const startedMs = clock.nowMs();
  for (let n = 1; ; n += 1) {
    throwIfInterrupted(signal);
    const value = await poll(n);
    if (value !== undefined) return value;
    throwIfInterrupted(signal);
    const leftMs = startedMs + deadlineMs - clock.nowMs();
    if (leftMs <= 0) {
      throw new PagefleetError('timeout', `Not done after ${n} polls in ${deadlineMs} ms.`, {
        details: { polls: n },
      });
    }
    try {
      await clock.sleep(Math.min(intervalMs, leftMs), signal);
    } catch (cause) {
      throwIfInterrupted(signal);
      throw cause;
    }
  }
}

function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new PagefleetError('interrupted', 'The wait was interrupted.', { cause: signal.reason });
  }
}
