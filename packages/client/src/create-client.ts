import type { FleetPlan, FleetStatus, OcrLine } from '@pagefleet/contract';
import { Agent, request } from 'undici';
import { type DocumentRequest, readDocument } from './read-document.ts';
import { connectionFailure, readFailure, toError } from './read-failure.ts';
import { readLines } from './read-lines.ts';

export interface ClientOptions {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** API key, or the operator's token */
  readonly token?: string;
}

export interface Client {
  /** The document's pages as they finish; ends with its `done` line. Throws PagefleetError when it cannot be read. */
  readDocument(document: DocumentRequest): AsyncGenerator<OcrLine>;
  /** Resolves when the endpoint answers that it is healthy; throws otherwise. */
  health(signal?: AbortSignal): Promise<void>;
  status(signal?: AbortSignal): Promise<FleetStatus>;
  plan(signal?: AbortSignal): Promise<FleetPlan>;
  /** Drains and ends the fleet; the lines tell how far it is. */
  down(options: { keepPods: boolean; signal?: AbortSignal }): AsyncGenerator<Record<string, unknown>>;
  close(): Promise<void>;
}

const CONTROL_TIMEOUT_MS = 10_000;

export function createClient({ url, token }: ClientOptions): Client {
  const dispatcher = new Agent({ connect: { timeout: CONTROL_TIMEOUT_MS } });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };

  async function getJson<T>(path: string, signal: AbortSignal | undefined): Promise<T> {
    const answer = await request(`${url}${path}`, {
      dispatcher,
      headers: authorization,
      headersTimeout: CONTROL_TIMEOUT_MS,
      bodyTimeout: CONTROL_TIMEOUT_MS,
      ...(signal ? { signal } : {}),
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw toError(connectionFailure(error, url), error);
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw toError(readFailure(answer, text));
    return JSON.parse(text) as T;
  }

  return {
    readDocument: (document) =>
      readDocument({ url, dispatcher, ...(token === undefined ? {} : { token }) }, document),
    async health(signal) {
      await getJson<unknown>('/healthz', signal);
    },
    status: (signal) => getJson<FleetStatus>('/v1/fleet/status', signal),
    plan: (signal) => getJson<FleetPlan>('/v1/fleet/plan', signal),
    async *down({ keepPods, signal }) {
      const answer = await request(`${url}/v1/fleet/down`, {
        method: 'POST',
        dispatcher,
        headers: {
          ...authorization,
          accept: 'application/x-ndjson',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ keep_pods: keepPods }),
        // The drain may take as long as a page may.
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(signal ? { signal } : {}),
      }).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw toError(connectionFailure(error, url), error);
      });
      if (answer.statusCode !== 200) throw toError(readFailure(answer, await answer.body.text()));
      yield* readLines<Record<string, unknown>>(answer.body);
    },
    close: () => dispatcher.close(),
  };
}
