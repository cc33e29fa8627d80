import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_PATHS, PAGE_HEADERS, PageCancelled } from '@pagefleet/contract';
import { Compile } from 'typebox/compile';
import type { PodEntry } from './pod-table.ts';

/** The gateway answers once the reading is over; an engine may take a moment to end. */
const ANSWER_TIMEOUT_MS = 10_000;
/** A pod that only dropped the connection answers again at once. */
const FIRST_PAUSES_MS = [0, 250, 750] as const;
const LATER_PAUSE_MS = 1_000;
/** How often it is looked whether the pod has been proven gone. */
const LOOK_MS = 100;

const answered = Compile(PageCancelled);

export interface EndingProof {
  readonly clusterId: string;
  /** whether to stop asking a pod that does not answer; the first tries are made in any case */
  giveUp(): boolean;
  /** the controller has proof that the pod is gone, and its reading with it */
  isGone(): boolean;
}

/**
 * Ends a reading that may still run. `over` only when the gateway itself confirms it or the pod is proven gone (L14);
 * otherwise it stays unknowable, and the page must not be sent again.
 */
export async function endReading(
  pod: PodEntry,
  dispatchId: string,
  { clusterId, giveUp, isGone }: EndingProof,
): Promise<'over' | 'unknowable'> {
  for (let tries = 0; ; tries += 1) {
    const isFirst = tries < FIRST_PAUSES_MS.length;
    if (!isFirst && giveUp()) return 'unknowable';
    if (await goneWithin(FIRST_PAUSES_MS[tries] ?? LATER_PAUSE_MS, isGone)) return 'over';
    if (await askOnce(pod, dispatchId, clusterId)) return 'over';
  }
}

async function goneWithin(pauseMs: number, isGone: () => boolean): Promise<boolean> {
  for (let leftMs = pauseMs; leftMs > 0 && !isGone(); leftMs -= LOOK_MS)
    await sleep(Math.min(leftMs, LOOK_MS));
  return isGone();
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
