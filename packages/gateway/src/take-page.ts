import type { ServerResponse } from 'node:http';
import {
  PAGE_HEADERS,
  PagefleetError,
  type PageResult,
  type Rejection,
  writeReadings,
} from '@pagefleet/contract';
import { type PageInput, type PageKind, sniffKind } from '@pagefleet/engines';
import { holdPlace, type PageExchange, type Place } from './hold-place.ts';
import type { Pod } from './pod.ts';
import { readBody } from './read-body.ts';

/** A reading that was told to end and runs on for so long means that the engine is beyond control. */
const STUCK_MS = 30_000;
const SNIFFED_BYTES = 2_048;

/** The life of one page in the pod, from its headers to its result. */
export function takePage(pod: Pod, exchange: PageExchange): Promise<PageResult> {
  return holdPlace(pod, exchange, (place) => readPage(pod, place, exchange));
}

async function readPage(
  pod: Pod,
  { headers, ticket, signal }: Place,
  { request, response, requestId }: PageExchange,
): Promise<PageResult> {
  const { pageId, options } = headers;
  const log = pod.logger.child({ pageId, requestId });
  const admittedAtMs = pod.monotonicMs();
  let bytes: Buffer;
  let kind: PageKind;
  try {
    bytes = await readBody(request, { maxBytes: pod.settings.maxPageBytes, signal });
    kind = parseKind(bytes);
    await ticket.slot(signal);
    await pod.engine.ready(signal);
    signal.throwIfAborted();
  } catch (error) {
    log.info({ code: codeOf(error) }, 'page_not_read');
    throw error;
  }
  log.info({ bytes: bytes.length, kind, waitedMs: msSince(pod, admittedAtMs) }, 'page_started');
  const startedAtMs = pod.monotonicMs();
  const finish = (outcome: string, more: object): void => {
    const readings = response.getHeader(PAGE_HEADERS.readings);
    log.info({ outcome, ms: msSince(pod, startedAtMs), readings, ...more }, 'page_finished');
  };
  try {
    const result = await runEngine(pod, response, { bytes, kind, options, signal });
    pod.pagesDone += 1;
    finish('ok', { engineMs: Math.round(result.engineMs) });
    return result;
  } catch (err) {
    const outcome = codeOf(err);
    finish(outcome, outcome === 'engine_failed' || outcome === 'internal' ? { err } : {});
    throw err;
  }
}

async function runEngine(pod: Pod, response: ServerResponse, page: PageInput): Promise<PageResult> {
  const cost = { asked: 0, rejected: [] as { why: Rejection; tokens: number }[] };
  const events = {
    asked(): void {
      cost.asked += 1;
    },
    rejected: (why: Rejection, tokens: number) => void cost.rejected.push({ why, tokens }),
  };
  const condemn = pod.engine.condemner();
  let stuck: NodeJS.Timeout | undefined;
  const watch = (): void => {
    stuck = setTimeout(() => {
      pod.logger.error('reading_stuck');
      condemn();
    }, STUCK_MS);
  };
  page.signal.addEventListener('abort', watch, { once: true });
  try {
    return await pod.engine.read({ ...page, events });
  } finally {
    page.signal.removeEventListener('abort', watch);
    clearTimeout(stuck);
    if (cost.asked > 0 && !response.headersSent)
      response.setHeader(PAGE_HEADERS.readings, writeReadings(cost));
  }
}

/** By content: a name or a `Content-Type` is only what somebody believes. */
function parseKind(bytes: Buffer): PageKind {
  const kind = sniffKind(bytes.subarray(0, SNIFFED_BYTES));
  if (kind !== null) return kind;
  throw new PagefleetError('unsupported_media_type', 'the bytes are no PDF, PNG, JPEG, TIFF or WebP');
}

function codeOf(error: unknown): string {
  return error instanceof PagefleetError ? error.code : 'internal';
}

function msSince(pod: Pod, atMs: number): number {
  return Math.round(pod.monotonicMs() - atMs);
}
