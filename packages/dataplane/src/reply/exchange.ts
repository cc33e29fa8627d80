import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, PagefleetError, toErrorBody, WIDTH_HEADERS } from '@pagefleet/contract';
import type { AdmissionFigures } from '../admit/admission.ts';
import { discardRest } from './discard-rest.ts';

/** One request and its answer, on the bare connection: the body is read and the answer written when we choose. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** Raised when the client hangs up before its answer is complete. */
  readonly signal: AbortSignal;
  readonly started: boolean;
  /** Sends the status line and headers. */
  start(status: number, headers: Record<string, string>): void;
  write(data: string | Uint8Array): void;
  /** Sends the headers although there is no body yet. */
  flush(): void;
  end(body?: string | Uint8Array): void;
  /** Resolves when the client has taken what was written, or is gone, or the signal is raised. */
  drained(signal?: AbortSignal): Promise<void>;
  /** Breaks the connection off: the client must not take what it has for the whole. */
  cut(): void;
  /** The whole answer, from the catalogue. Nothing may have been sent before. */
  fail(error: PagefleetError): void;
}

export interface ExchangeOptions {
  readonly requestId: string;
  /** The body of an error, where clients of the path expect another shape than Mistral's. */
  errorBody?(error: PagefleetError, requestId: string): object;
  figures(): AdmissionFigures;
  /** The process leaves: this connection shall carry no further request. */
  leaving(): boolean;
}

/** A client told nothing else comes back after this. */
const DEFAULT_RETRY_AFTER_SECONDS = 2;

export function createExchange(
  request: IncomingMessage,
  response: ServerResponse,
  options: ExchangeOptions,
): Exchange {
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort(new PagefleetError('client_gone', 'the client hung up'));
  });
  response.on('error', () => undefined);
  request.on('error', () => undefined);

  function start(status: number, headers: Record<string, string>): void {
    const figures = options.figures();
    response.writeHead(status, {
      'x-request-id': options.requestId,
      [WIDTH_HEADERS.width]: figures.pageWidth,
      [WIDTH_HEADERS.queueLimit]: figures.queueLimit,
      [WIDTH_HEADERS.inFlight]: figures.pagesInFlight,
      [WIDTH_HEADERS.queued]: figures.pagesQueued,
      // Closing before the whole body was taken would cut the peer while it writes.
      ...(options.leaving() && request.complete ? { connection: 'close' } : {}),
      ...headers,
    });
  }

  function fail(error: PagefleetError): void {
    const status = ERRORS[error.code].httpStatus;
    const { requestId, errorBody = bodyOf } = options;
    const body = JSON.stringify(errorBody(error, requestId));
    start(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...(status === 429 || status === 503 ? { 'retry-after': String(retryAfterOf(error)) } : {}),
      // Every path of a worker takes POST alone.
      ...(status === 405 ? { allow: 'POST' } : {}),
      ...(request.complete && status !== 429 ? {} : closeAtTheDoor(status, body)),
    });
    response.end(body);
    discardRest(request);
  }

  return {
    request,
    requestId: options.requestId,
    signal: gone.signal,
    get started() {
      return response.headersSent;
    },
    start,
    write(data) {
      if (!response.destroyed) response.write(data);
    },
    flush: () => response.flushHeaders(),
    end(body) {
      response.end(body);
      discardRest(request);
    },
    drained: (signal) => drained(response, signal),
    cut: () => response.destroy(),
    fail,
  };
}

function drained(response: ServerResponse, signal?: AbortSignal): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // One wait leaves nothing behind: a slow client is waited for again and again.
    const goOn = (): void => {
      response.off('drain', goOn);
      response.off('close', goOn);
      signal?.removeEventListener('abort', goOn);
      resolve();
    };
    response.on('drain', goOn);
    response.on('close', goOn);
    signal?.addEventListener('abort', goOn);
  });
}

/**
 * For nginx: give this answer at a place that closes the connection and says so. A pooled client would else send its next
 * request behind a body that nobody reads (`renderGeneration` has the places). A header holds ASCII only.
 */
function closeAtTheDoor(status: number, body: string): Record<string, string> {
  const ascii = body.replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { 'x-accel-redirect': `@refused_${status}`, 'x-refusal': ascii };
}

function retryAfterOf(error: PagefleetError): number {
  const { retryAfterSeconds } = error.details;
  return typeof retryAfterSeconds === 'number' ? retryAfterSeconds : DEFAULT_RETRY_AFTER_SECONDS;
}

function bodyOf(error: PagefleetError, requestId: string): object {
  const { retryAfterSeconds: _, ...body } = toErrorBody(error, requestId);
  // Mistral's client takes a 422 for a list of what is wrong, and finds no other reading for it.
  if (ERRORS[error.code].httpStatus !== 422) return body;
  return {
    ...body,
    detail: [{ loc: ['body', body.param ?? 'document'], msg: body.message, type: error.code }],
  };
}
