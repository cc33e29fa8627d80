import { setTimeout as sleep } from 'node:timers/promises';

/** Time as whoever runs a model server sees it. */
export interface ServerClock {
  nowMs(): number;
  /** rejects when the signal is raised */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const realClock: ServerClock = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal && { signal }) }),
};
