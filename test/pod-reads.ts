import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { POD_FILES } from '@pagefleet/contract';
import { clusterPaths } from '@pagefleet/runtime';

export interface Reading {
  readonly pod: string;
  readonly pageId: string;
  readonly requestId: string;
  readonly startedMs: number;
  /** null = the pod died, or still reads */
  readonly endedMs: number | null;
  /** how it ended by the pod's own log */
  readonly outcome: string | null;
}

/** Every reading that any pod of the cluster began, dead pods included: counted in the pods' own logs, so that nothing on the way can hide one. */
export function observeReadings(stateDir: string): Reading[] {
  const { accountDir } = clusterPaths(stateDir);
  return readdirSync(accountDir).flatMap((pod) => readingsOf(join(accountDir, pod), pod));
}

function readingsOf(podDir: string, pod: string): Reading[] {
  const readings = new Map<string, Reading>();
  for (const name of [`${POD_FILES.log}.1`, POD_FILES.log]) {
    const file = join(podDir, name);
    if (!existsSync(file)) continue;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const entry = parseLine(line);
      if (entry?.event === 'page_started') {
        const { pageId, requestId } = entry;
        readings.set(pageId, {
          pod,
          pageId,
          requestId,
          startedMs: Date.parse(entry.time),
          endedMs: null,
          outcome: null,
        });
      }
      const begun = entry?.event === 'page_finished' ? readings.get(entry.pageId) : undefined;
      if (entry && begun) {
        const endedMs = Date.parse(entry.time);
        readings.set(entry.pageId, { ...begun, endedMs, outcome: entry.outcome ?? 'ok' });
      }
    }
  }
  return [...readings.values()];
}

interface LogLine {
  readonly event: string;
  readonly time: string;
  readonly pageId: string;
  readonly requestId: string;
  readonly outcome?: string;
}

function parseLine(line: string): LogLine | null {
  if (!line.includes('"page_')) return null;
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return null;
  }
}

/** Pages that were read to the end more than once: each is a page paid for twice. */
export function readTwice(readings: readonly Reading[]): Reading[][] {
  const whole = readings.filter(({ outcome }) => outcome === 'ok');
  return [...Map.groupBy(whole, ({ requestId }) => requestId).values()].filter((same) => same.length > 1);
}

/**
 * The longest time in which some pod ran fewer pages than its width although pages were still to be begun, in
 * milliseconds: from the first page begun anywhere to the last.
 */
export function longestIdleMs(readings: readonly Reading[], width: number): number {
  const fromMs = Math.min(...readings.map(({ startedMs }) => startedMs));
  const untilMs = Math.max(...readings.map(({ startedMs }) => startedMs));
  let longest = 0;
  for (const ofPod of Map.groupBy(readings, ({ pod }) => pod).values()) {
    const changes = ofPod.flatMap(({ startedMs, endedMs }) => [
      { atMs: startedMs, by: 1 },
      { atMs: endedMs ?? untilMs, by: -1 },
    ]);
    changes.sort((a, b) => a.atMs - b.atMs);
    let running = 0;
    let idleSinceMs: number | null = fromMs;
    for (const { atMs, by } of changes) {
      running += by;
      if (running >= width && idleSinceMs !== null) {
        longest = Math.max(longest, atMs - idleSinceMs);
        idleSinceMs = null;
      } else if (running < width) idleSinceMs ??= Math.min(atMs, untilMs);
    }
  }
  return longest;
}
