import type { Roster, RosterWorker } from '@pagefleet/contract';

/** A worker that died comes back on its own port within seconds; only one that stays away leaves the upstream. */
const GONE_AFTER_MS = 60_000;

/**
 * The ports nginx shall know, in the order of the worker numbers: all that are configured, but for those whose worker has
 * been gone for a while. null = keep what is in force: nobody heard from the primary, or it names no worker that lives,
 * and both say nothing about where pages can go.
 */
export function workerPorts(
  configured: readonly number[],
  roster: Roster | null,
  nowMs: number,
): readonly number[] | null {
  if (roster === null) return null;
  const ports = configured.filter((port) => {
    const holders = roster.workers.filter((worker) => worker.port === port);
    return holders.length === 0 || holders.some((worker) => isThere(worker, nowMs));
  });
  return ports.length === 0 ? null : ports;
}

function isThere({ state, sinceMs }: RosterWorker, nowMs: number): boolean {
  const isGone = state === 'exited' || state === 'orphan';
  return !isGone || nowMs - sinceMs < GONE_AFTER_MS;
}
