import { createReadStream } from 'node:fs';
import {
  GATEWAY_PATHS,
  PAGE_HEADERS,
  type PageOptions,
  PageResult,
  parseReadings,
} from '@pagefleet/contract';
import type { PageKind } from '@pagefleet/engines';
import { Compile } from 'typebox/compile';
import type { ModelMetrics } from '../model-metrics.ts';
import type { HeldBytes } from '../read/held-bytes.ts';
import {
  broken,
  type Dispatch,
  type DispatchOutcome,
  failed,
  headersOf,
  refused,
  startStop,
} from './dispatch.ts';
import type { PodAnswer } from './pod-client.ts';
import type { PodEntry } from './pod-table.ts';

export interface PageToRead {
  readonly body: HeldBytes;
  readonly kind: PageKind;
  readonly options: PageOptions;
}

/** Has one page read on one pod once. Never rejects. */
export type PageSender = (page: PageToRead, dispatch: Dispatch) => Promise<DispatchOutcome>;

const resultOf = Compile(PageResult);

type ReadingMetrics = Pick<ModelMetrics, 'readingAsked' | 'readingRejected'>;

/** Sends pages to the gateway in a pod and waits for its answer. */
export function createPageSender(metrics: ReadingMetrics): PageSender {
  return (page, dispatch) => sendPage(page, dispatch, metrics);
}

async function sendPage(
  page: PageToRead,
  dispatch: Dispatch,
  metrics: ReadingMetrics,
): Promise<DispatchOutcome> {
  const { pod } = dispatch;
  const stop = startStop(dispatch);
  try {
    if (stop.reason) return failed({ kind: stop.reason });
    const answer = await pod.client.post({
      path: GATEWAY_PATHS.page,
      headers: {
        ...headersOf(dispatch, dispatch.timeoutMs),
        'content-type': 'application/octet-stream',
        'content-length': String(page.body.size),
        ...optionsOf(page.options),
      },
      body: bodyOf(page.body),
      timeoutMs: stop.transportTimeoutMs,
      signal: stop.signal,
    });
    countReadings(answer, pod.pool, metrics);
    return readAnswer(answer, pod);
  } catch (error) {
    return broken(error, stop.reason);
  } finally {
    stop.clear();
  }
}

function optionsOf(options: PageOptions): Record<string, string> {
  if (Object.keys(options).length === 0) return {};
  return { [PAGE_HEADERS.options]: Buffer.from(JSON.stringify(options)).toString('base64url') };
}

/** What the body is sent from; a spool file is read while it is sent. */
export function bodyOf(held: HeldBytes) {
  return held.place === 'memory' ? held.chunks : createReadStream(held.path);
}

function countReadings({ readings }: PodAnswer, pool: string, metrics: ReadingMetrics): void {
  const figures = parseReadings(readings);
  metrics.readingAsked(pool, figures?.asked ?? 0);
  for (const { why, tokens } of figures?.rejected ?? []) metrics.readingRejected(pool, why, tokens);
}

function readAnswer({ status, text }: PodAnswer, pod: PodEntry): DispatchOutcome {
  if (status !== 200) return refused(status, text, pod);
  const result = parseJson(text);
  return resultOf.Check(result) ? { kind: 'read', result } : failed({ kind: 'bad_answer' });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
