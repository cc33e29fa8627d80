import { setTimeout as sleep } from 'node:timers/promises';
import type { OcrLine } from '@pagefleet/contract';
import { type Dispatcher, request } from 'undici';
import { type CallFailure, decideRetry, isBlamed } from './decide-retry.ts';
import { connectionFailure, readFailure, toError } from './read-failure.ts';
import { readLines } from './read-lines.ts';

export interface DocumentRequest {
  /** called for each attempt, so that a file can be read again */
  readonly body: () => Uint8Array | NodeJS.ReadableStream;
  readonly contentLength: number;
  /** 0-based: `0-5`, `0,2-4`; all pages if left out */
  readonly pages?: string;
  readonly languages?: readonly string[];
  readonly model?: string;
  readonly signal?: AbortSignal;
  /** called before each pause, so that a person can be told */
  readonly onWait?: (failure: CallFailure, waitMs: number) => void;
}

export interface Endpoint {
  readonly url: string;
  readonly token?: string;
  readonly dispatcher: Dispatcher;
}

/**
 * The lines of one document as they come, with the retry rules of R-080. If the connection breaks in between, the document
 * is asked for again and pages already given are left out.
 */
export async function* readDocument(endpoint: Endpoint, document: DocumentRequest): AsyncGenerator<OcrLine> {
  const given = new Set<number>();
  const counts = { failures: 0, blamed: 0, notFoundSinceMs: null as number | null };
  let reached = false;
  for (;;) {
    let failure: CallFailure;
    let cause: unknown;
    try {
      const answer = await send(endpoint, document);
      reached = true;
      if (answer.statusCode === 200) {
        for await (const line of readLines<OcrLine>(answer.body)) {
          if (line.type === 'page') {
            if (given.has(line.index)) continue;
            given.add(line.index);
            Object.assign(counts, { failures: 0, blamed: 0 });
          }
          yield line;
          if (line.type === 'done') return;
        }
        failure = connectionFailure(new Error('the answer ended before its last line'), endpoint.url);
      } else {
        failure = readFailure(answer, await answer.body.text());
      }
    } catch (error) {
      document.signal?.throwIfAborted();
      failure = connectionFailure(error, endpoint.url);
      cause = error;
      // Nobody was ever there: waiting would hide a wrong address or a cluster that is not up.
      if (!reached) throw toError(failure, cause);
    }
    const waitMs = decideWait(failure, counts);
    if (waitMs === null) throw toError(failure, cause);
    document.onWait?.(failure, waitMs);
    await sleep(waitMs, undefined, document.signal ? { signal: document.signal } : {});
  }
}

interface Counts {
  failures: number;
  blamed: number;
  notFoundSinceMs: number | null;
}

/** null = stop */
function decideWait(failure: CallFailure, counts: Counts): number | null {
  const nowMs = performance.now();
  counts.failures += 1;
  counts.blamed = isBlamed(failure) ? counts.blamed + 1 : counts.blamed;
  counts.notFoundSinceMs = failure.status === 404 ? (counts.notFoundSinceMs ?? nowMs) : null;
  const decision = decideRetry(failure, {
    failures: counts.failures,
    blamed: counts.blamed,
    notFoundForMs: counts.notFoundSinceMs === null ? 0 : nowMs - counts.notFoundSinceMs,
    jitter: Math.random(),
  });
  return decision.kind === 'wait' ? decision.ms : null;
}

function send(endpoint: Endpoint, document: DocumentRequest) {
  const query = new URLSearchParams({
    ...(document.pages ? { pages: document.pages } : {}),
    ...(document.languages?.length ? { languages: document.languages.join(',') } : {}),
    ...(document.model ? { model: document.model } : {}),
  });
  return request(`${endpoint.url}/v1/ocr${query.size > 0 ? `?${query}` : ''}`, {
    method: 'POST',
    headers: {
      accept: 'application/x-ndjson',
      'content-type': 'application/octet-stream',
      'content-length': String(document.contentLength),
      ...(endpoint.token ? { authorization: `Bearer ${endpoint.token}` } : {}),
    },
    body: document.body() as Uint8Array,
    dispatcher: endpoint.dispatcher,
    // A page may take minutes and its deadline is the server's; the client's own limits would only cut it short.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(document.signal ? { signal: document.signal } : {}),
  });
}
