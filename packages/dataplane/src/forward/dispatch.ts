import type { PageResult } from '@pagefleet/contract';
import { PAGE_HEADERS } from '@pagefleet/contract';
import type { PageFailure } from '@pagefleet/core';
import {
  observeFailure,
  observeStatus,
  type PodRefusal,
  parseRefusal,
  type StopReason,
  showsAny,
} from './observe-failure.ts';
import type { PodEntry } from './pod-table.ts';

/** One sending of a job to one pod. */
export interface Dispatch {
  readonly id: string;
  readonly pod: PodEntry;
  readonly clusterId: string;
  readonly requestId: string;
  /** until the deadline of the job */
  readonly timeoutMs: number;
  /** Raised when nobody waits for the job any more. */
  readonly signal: AbortSignal;
  /** by which the pod knows what runs for it now: the dispatch’s own id, unless it takes several requests */
  reading: string;
}

export type DispatchOutcome<Result = PageResult> =
  | { readonly kind: 'read'; readonly result: Result }
  | FailedDispatch;

export interface FailedDispatch {
  readonly kind: 'failed';
  readonly failure: PageFailure;
  /** what the pod said about it, if it said anything */
  readonly refusal: PodRefusal | null;
  /** the system's own word for it, for the log: it names the limit of a shortage */
  readonly reason: string | null;
  /** a part of the answer has reached the client: it must not be sent again */
  readonly isFinal?: boolean;
}

/** The gateway gives up at the deadline and says so; only a pod that does not say so is cut off a little later. */
const GRACE_MS = 2_000;

/** Ends what runs for a dispatch when its client leaves or its time is over, and knows which of the two it was. */
export interface DispatchStop {
  readonly signal: AbortSignal;
  readonly reason: StopReason | null;
  /** for connections: later than our own end */
  readonly transportTimeoutMs: number;
  clear(): void;
}

export function startStop({ signal, timeoutMs }: Dispatch): DispatchStop {
  const ending = new AbortController();
  let reason: StopReason | null = null;
  const stop = (why: StopReason): void => {
    reason ??= why;
    ending.abort();
  };
  const onGone = (): void => stop('client_gone');
  const timer = setTimeout(() => stop('timed_out'), timeoutMs + GRACE_MS);
  signal.addEventListener('abort', onGone, { once: true });
  if (signal.aborted) onGone();
  return {
    signal: ending.signal,
    get reason() {
      return reason;
    },
    transportTimeoutMs: timeoutMs + 2 * GRACE_MS,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener('abort', onGone);
    },
  };
}

/** What every request to a pod carries; `content-type`, `content-length` and the like come beside it. */
export function headersOf({ pod, clusterId, requestId, reading }: Dispatch, leftMs: number) {
  return {
    authorization: `Bearer ${pod.token}`,
    [PAGE_HEADERS.pageId]: reading,
    [PAGE_HEADERS.owner]: clusterId,
    [PAGE_HEADERS.deadlineMs]: String(Math.max(1, Math.ceil(leftMs))),
    [PAGE_HEADERS.requestId]: requestId,
  };
}

/** Whether a text shows what no answer of ours may: where the pod is, or its token. */
export function showsPod(text: string, pod: PodEntry): boolean {
  return showsAny(text, secretsOf(pod));
}

function secretsOf({ url, token }: PodEntry): readonly string[] {
  return [new URL(url).host, token];
}

export function refused(status: number, text: string, pod: PodEntry): FailedDispatch {
  const refusal = parseRefusal(text, secretsOf(pod));
  return failed(observeStatus(status, refusal), refusal);
}

export function failed(failure: PageFailure, refusal: PodRefusal | null = null): FailedDispatch {
  return { kind: 'failed', failure, refusal, reason: null };
}

/** For whatever was thrown on the way. */
export function broken(error: unknown, stopped: StopReason | null): FailedDispatch {
  return { ...failed(observeFailure(error, stopped)), reason: reasonOf(error) };
}

function reasonOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}
