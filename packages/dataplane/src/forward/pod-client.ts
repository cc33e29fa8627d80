import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_PATHS, PAGE_HEADERS, PROOF_HEADERS } from '@pagefleet/contract';
import { type Dispatcher, errors, Pool } from 'undici';
import { createPodConnector, type PodAddress } from './pod-connector.ts';

export interface PodClientLimits {
  /** pages in flight that the pool must carry without a queue of its own */
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

/** Connections to one pod: pages and control calls never share one. */
export interface PodClient {
  post(request: PageRequest): Promise<PodAnswer>;
  /** The same, answered as soon as the head of the answer is there. Giving up the body closes the connection. */
  open(request: PageRequest): Promise<OpenAnswer>;
  /** Connections of its own, so that ending a page never waits behind pages. */
  delete(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<PodAnswer>;
  /** Over the control connections too. */
  health(headers: Record<string, string>, signal: AbortSignal): Promise<PodHealthAnswer>;
  readonly connections: number;
  /** Takes no further page and lets those in flight end; they can still be ended by `delete` until then. */
  retire(): Promise<void>;
  destroy(): Promise<void>;
}

interface PageRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: readonly Uint8Array[] | AsyncIterable<Uint8Array> | Readable;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface PodAnswer {
  readonly status: number;
  readonly text: string;
  /** the header `PAGE_HEADERS.readings` */
  readonly readings?: string | undefined;
}

/** An answer whose body is still to come; it comes no faster than it is taken. */
export interface OpenAnswer {
  readonly status: number;
  readonly contentType: string;
  /** bytes of the body; null = not told */
  readonly length: number | null;
  readonly body: AsyncIterable<Uint8Array>;
}

interface PodHealthAnswer extends PodAnswer {
  readonly proof: string | null;
}

const CONTROL_CONNECTIONS = 16;
const CONTROL_TIMEOUT_MS = 15_000;
/** A page that was cut when its pod left is asked after for about this long. */
const RETIRED_CONTROL_MS = 45_000;
/** A page with every word and box is some 100 KB; more than this is no page result. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Shorter than the gateway keeps an idle connection, so that it is us who close it. */
const IDLE_CONNECTION_MS = 10_000;

export function createPodClient(address: PodAddress, limits: PodClientLimits): PodClient {
  const { origin, connect } = createPodConnector(address, limits.connectTimeoutMs);
  const shared = {
    pipelining: 1,
    allowH2: false,
    connect,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
  } as const;
  const pages = new Pool(origin, { ...shared, connections: limits.connections });
  const control = new Pool(origin, {
    ...shared,
    connections: CONTROL_CONNECTIONS,
    headersTimeout: CONTROL_TIMEOUT_MS,
    bodyTimeout: CONTROL_TIMEOUT_MS,
  });
  const send = ({ path, headers, body, timeoutMs, signal }: PageRequest) =>
    pages.request({
      method: 'POST',
      path,
      headers,
      // An iterable of chunks is a body as well (undici's Dispatcher documentation), its types only do not say so.
      body: body as Readable,
      signal,
      // Minutes are normal; the page's own deadline is what bounds it.
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  return {
    connections: limits.connections,
    async post(request) {
      return answerOf(await send(request));
    },
    async open(request) {
      const { statusCode, headers, body } = await send(request);
      const length = headers['content-length'];
      return {
        status: statusCode,
        contentType: String(headers['content-type'] ?? 'application/json'),
        length: typeof length === 'string' ? Number(length) : null,
        body,
      };
    },
    async delete(path, headers, signal) {
      return answerOf(await control.request({ method: 'DELETE', path, headers, signal }));
    },
    async health(headers, signal) {
      const answer = await control.request({ method: 'GET', path: GATEWAY_PATHS.health, headers, signal });
      const proof = answer.headers[PROOF_HEADERS.podProof];
      return { ...(await answerOf(answer)), proof: typeof proof === 'string' ? proof : null };
    },
    async retire() {
      await pages.close();
      await sleep(RETIRED_CONTROL_MS, undefined, { ref: false });
      await control.close();
    },
    async destroy() {
      await Promise.all([pages.destroy(), control.destroy()]);
    },
  };
}

async function answerOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<PodAnswer> {
  const text = (await readBounded(body, MAX_ANSWER_BYTES)).toString('utf8');
  return { status: statusCode, text, readings: headers[PAGE_HEADERS.readings]?.toString() };
}

/** The whole body; rejects with undici's own code when it is larger. */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new errors.ResponseExceededMaxSizeError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
