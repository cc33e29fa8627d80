import type { IncomingMessage, ServerResponse } from 'node:http';
import { PagefleetError, type PageOptions, type PageResult } from '@pagefleet/contract';
import { type PageKind, sniffKind } from '@pagefleet/engines';
import type { PageTicket } from './page-gate.ts';
import { type PageHeaders, parsePageHeaders } from './parse-page-headers.ts';
import type { Pod } from './pod.ts';
import { readBody, tooLarge } from './read-body.ts';

/** A reading that was told to end and runs on for so long means that the engine is beyond control. */
const STUCK_MS = 30_000;
const SNIFFED_BYTES = 2_048;

interface AdmittedPage {
  readonly headers: PageHeaders;
  readonly ticket: PageTicket;
  readonly ending: AbortController;
  /** takes the page out of the register */
  readonly end: () => void;
}

/** The life of one page in the pod, from its headers to its result. Whatever happens, its place and slot are given back. */
export async function takePage(
  pod: Pod,
  http: { request: IncomingMessage; response: ServerResponse; requestId: string },
): Promise<PageResult> {
  const page = admitPage(pod, http.request);
  const { ending, headers } = page;
  const deadline = setTimeout(() => {
    ending.abort(
      new PagefleetError('page_deadline', `the page was not read within ${headers.deadlineMs} ms`),
    );
  }, headers.deadlineMs);
  const hangUp = (): void => {
    if (!http.response.writableFinished)
      ending.abort(new PagefleetError('client_gone', 'the sender hung up'));
  };
  http.response.once('close', hangUp);
  if (http.response.destroyed) hangUp();
  try {
    return await readPage(pod, page, http);
  } finally {
    clearTimeout(deadline);
    page.ticket.leave();
    page.end();
    if (!http.response.destroyed) pod.owner.hearAgain();
  }
}

/** Decided from the headers alone, before a byte of the body is read. */
function admitPage(pod: Pod, request: IncomingMessage): AdmittedPage {
  if (!pod.isBearer(request.headers.authorization)) {
    throw new PagefleetError('unauthorized', 'the bearer token is missing or wrong');
  }
  const headers = parsePageHeaders(request.headers);
  if (!pod.owner.hear(headers.owner)) {
    throw new PagefleetError('wrong_owner', 'this pod heard another owner a short time ago');
  }
  if (pod.stopping) throw new PagefleetError('stopping', 'this pod takes no more pages');
  const { maxPageBytes } = pod.settings;
  if (Number(request.headers['content-length'] ?? 0) > maxPageBytes) throw tooLarge(maxPageBytes);
  if (pod.engine.state() === 'dead') throw new PagefleetError('engine_not_ready', 'the engine is dead');

  const ticket = pod.gate.enter();
  if (ticket === null) {
    throw new PagefleetError('pod_full', 'this pod runs and holds as many pages as its width allows', {
      details: { retryAfterSeconds: 1 },
    });
  }
  const ending = new AbortController();
  const begun = pod.register.begin(headers.pageId, (reason) => ending.abort(reason));
  if (begun.kind === 'begun') return { headers, ticket, ending, end: begun.end };
  ticket.leave();
  throw new PagefleetError(
    'conflict',
    begun.kind === 'running' ? 'this page is in the pod now' : 'this page was ended by its sender',
  );
}

async function readPage(
  pod: Pod,
  { headers, ticket, ending: { signal } }: AdmittedPage,
  { request, requestId }: { request: IncomingMessage; requestId: string },
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
  const finish = (outcome: string, more: object): void =>
    log.info({ outcome, ms: msSince(pod, startedAtMs), ...more }, 'page_finished');
  try {
    const result = await runEngine(pod, { bytes, kind, options, signal });
    pod.pagesDone += 1;
    finish('ok', { engineMs: Math.round(result.engineMs) });
    return result;
  } catch (err) {
    const outcome = codeOf(err);
    finish(outcome, outcome === 'engine_failed' || outcome === 'internal' ? { err } : {});
    throw err;
  }
}

async function runEngine(
  pod: Pod,
  page: { bytes: Buffer; kind: PageKind; options: PageOptions; signal: AbortSignal },
): Promise<PageResult> {
  let stuck: NodeJS.Timeout | undefined;
  const watch = (): void => {
    stuck = setTimeout(() => {
      pod.logger.error('reading_stuck');
      pod.engine.condemn();
    }, STUCK_MS);
  };
  page.signal.addEventListener('abort', watch, { once: true });
  try {
    return await pod.engine.read(page);
  } finally {
    page.signal.removeEventListener('abort', watch);
    clearTimeout(stuck);
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
