import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_PATHS, PAGE_HEADERS, PageCancelled } from '@pagefleet/contract';
import { Compile } from 'typebox/compile';
import type { PodEntry } from './pod-table.ts';

/** The gateway answers once the reading is over; an engine may take a moment to end. */
const ANSWER_TIMEOUT_MS = 10_000;
/** A pod that only dropped the connection answers again at once; one that is gone is not waited for. */
const PAUSES_MS = [0, 250, 750] as const;

const answered = Compile(PageCancelled);

/**
 * Ends a reading that may still run. `over` only when the gateway itself confirms it (L14); a pod that cannot be asked
 * leaves it unknowable, and the page must not be sent again.
 */
export async function endReading(
  pod: PodEntry,
  dispatchId: string,
  clusterId: string,
): Promise<'over' | 'unknowable'> {
  for (const pauseMs of PAUSES_MS) {
    if (pauseMs > 0) await sleep(pauseMs);
    if (await askOnce(pod, dispatchId, clusterId)) return 'over';
  }
  return 'unknowable';
}

async function askOnce(pod: PodEntry, dispatchId: string, clusterId: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${pod.token}`, [PAGE_HEADERS.owner]: clusterId };
  try {
    const path = `${GATEWAY_PATHS.page}/${dispatchId}`;
    const { status, text } = await pod.client.delete(path, headers, AbortSignal.timeout(ANSWER_TIMEOUT_MS));
    return status === 200 && answered.Check(JSON.parse(text));
  } catch {
    // Not reached, or no answer of a gateway: it stays unknown.
    return false;
  }
}
