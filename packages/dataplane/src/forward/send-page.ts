import { createReadStream } from 'node:fs';
import { GATEWAY_PATHS, PAGE_HEADERS, PageResult } from '@pagefleet/contract';
import type { PageFailure } from '@pagefleet/core';
import { Compile } from 'typebox/compile';
import type { PageJob } from '../queue/page-job.ts';
import type { HeldBytes } from '../read/held-bytes.ts';
import {
  observeFailure,
  observeStatus,
  type PodRefusal,
  parseRefusal,
  type StopReason,
} from './observe-failure.ts';
import type { PodAnswer } from './pod-client.ts';
import type { PodEntry } from './pod-table.ts';

export interface Dispatch {
  readonly id: string;
  readonly job: PageJob;
  readonly pod: PodEntry;
  readonly clusterId: string;
  readonly timeoutMs: number;
}

export type DispatchOutcome =
  | { readonly kind: 'read'; readonly result: PageResult }
  | {
      readonly kind: 'failed';
      readonly failure: PageFailure;
      /** what the pod said about it, if it said anything */
      readonly refusal: PodRefusal | null;
      /** the system's own word for it, for the log: it names the limit of a shortage */
      readonly reason: string | null;
    };

export type FailedDispatch = Extract<DispatchOutcome, { kind: 'failed' }>;

/** The gateway gives up at the deadline and says so; only a pod that does not say so is cut off a little later. */
const GRACE_MS = 2_000;

const resultOf = Compile(PageResult);

/** Sends one page to one pod once and waits for its answer. Never rejects. */
export async function sendPage(dispatch: Dispatch): Promise<DispatchOutcome> {
  const { job, pod } = dispatch;
  let stopped: StopReason | null = null;
  const abort = new AbortController();
  const stop = (reason: StopReason): void => {
    stopped ??= reason;
    abort.abort();
  };
  const onGone = (): void => stop('client_gone');
  const timer = setTimeout(() => stop('timed_out'), dispatch.timeoutMs + GRACE_MS);
  job.signal.addEventListener('abort', onGone, { once: true });
  try {
    if (job.signal.aborted) return failed({ kind: 'client_gone' });
    const answer = await pod.client.post({
      path: GATEWAY_PATHS.page,
      headers: headersOf(dispatch),
      body: bodyOf(job.body),
      timeoutMs: dispatch.timeoutMs + 2 * GRACE_MS,
      signal: abort.signal,
    });
    return readAnswer(answer, pod);
  } catch (error) {
    return { ...failed(observeFailure(error, stopped)), reason: reasonOf(error) };
  } finally {
    clearTimeout(timer);
    job.signal.removeEventListener('abort', onGone);
  }
}

function headersOf({ id, job, pod, clusterId, timeoutMs }: Dispatch): Record<string, string> {
  return {
    authorization: `Bearer ${pod.token}`,
    'content-type': 'application/octet-stream',
    'content-length': String(job.body.size),
    [PAGE_HEADERS.pageId]: id,
    [PAGE_HEADERS.owner]: clusterId,
    [PAGE_HEADERS.deadlineMs]: String(Math.ceil(timeoutMs)),
    [PAGE_HEADERS.requestId]: job.requestId,
    ...(job.optionsHeader === null ? {} : { [PAGE_HEADERS.options]: job.optionsHeader }),
  };
}

function bodyOf(held: HeldBytes) {
  return held.place === 'memory' ? held.chunks : createReadStream(held.path);
}

function readAnswer({ status, text }: PodAnswer, pod: PodEntry): DispatchOutcome {
  if (status !== 200) {
    const refusal = parseRefusal(text, [new URL(pod.url).host, pod.token]);
    return failed(observeStatus(status, refusal), refusal);
  }
  const result = parseJson(text);
  return resultOf.Check(result) ? { kind: 'read', result } : failed({ kind: 'bad_answer' });
}

function failed(failure: PageFailure, refusal: PodRefusal | null = null): FailedDispatch {
  return { kind: 'failed', failure, refusal, reason: null };
}

function reasonOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  return (error as NodeJS.ErrnoException).code ?? error.name;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
