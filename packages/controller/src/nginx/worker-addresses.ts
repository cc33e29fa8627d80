import type { Roster } from '@pagefleet/contract';

/** A worker that died comes back on its own port within seconds; only one that stays away leaves the upstream. */
const GONE_AFTER_MS = 60_000;

/**
 * The ports nginx shall know, sorted; null = keep what is in force. Nobody heard from the primary, or it names no worker that
 * lives: both say nothing about where pages can go, and an empty upstream would be no configuration at all.
 */
export function workerPorts(roster: Roster | null, nowMs: number): readonly number[] | null {
  if (roster === null) return null;
  const ports = new Set<number>();
  for (const worker of roster.workers) {
    const isLive = worker.state !== 'exited' && worker.state !== 'orphan';
    if (isLive || nowMs - worker.sinceMs < GONE_AFTER_MS) ports.add(worker.port);
  }
  return ports.size === 0 ? null : [...ports].sort((a, b) => a - b);
}
