import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { POD_FILES } from '@pagefleet/contract';
import { clusterPaths } from '@pagefleet/runtime';

export interface Reading {
  readonly pod: string;
  readonly pageId: string;
  readonly requestId: string;
  /** how it ended by the pod's own log; null = the pod died, or still reads */
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
        readings.set(entry.pageId, { pod, pageId: entry.pageId, requestId: entry.requestId, outcome: null });
      }
      const begun = entry?.event === 'page_finished' ? readings.get(entry.pageId) : undefined;
      if (entry && begun) readings.set(entry.pageId, { ...begun, outcome: entry.outcome ?? 'ok' });
    }
  }
  return [...readings.values()];
}

interface LogLine {
  readonly event: string;
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
