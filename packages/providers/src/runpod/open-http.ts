import { Agent } from 'undici';
import type { ApiAnswer, ApiCall, Send } from './api-call.ts';
import { isUnsent } from './is-unsent.ts';

/** calls to the provider have connections of their own. */
const CONNECTIONS = 16;
/** A listing of 1,000 pods with their environments is about 4 MB. */
const MAX_ANSWER_BYTES = 64 * 1_024 * 1_024;

export interface Http {
  /** sends to one base address, as it is asked and nothing more */
  raw(baseUrl: string): Send;
  close(): Promise<void>;
}

/**
 * Connections are not kept: on one that the server is closing at that moment a create would be lost without anybody
 * knowing whether it was read.
 */
export function openHttp(userAgent: string): Http {
  const agent = new Agent({ connections: CONNECTIONS, pipelining: 0, maxResponseSize: MAX_ANSWER_BYTES });

  async function ask(baseUrl: string, call: ApiCall): Promise<ApiAnswer> {
    const { method, path, body, headers, timeoutMs } = call;
    const url = new URL(baseUrl + path);
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      signal: AbortSignal.timeout(timeoutMs),
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: {
        ...headers,
        accept: 'application/json',
        // Never left out: RunPod's firewall refuses what a library says of itself.
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const header = (name: string): string | undefined => {
      const value = answer.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    };
    return { kind: 'answered', status: answer.statusCode, header, text, body: parseJson(text) };
  }

  return {
    raw: (baseUrl) => (call) =>
      ask(baseUrl, call).catch((cause: unknown) => ({ kind: isUnsent(cause) ? 'not-sent' : 'lost', cause })),
    close: () => agent.destroy(),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
