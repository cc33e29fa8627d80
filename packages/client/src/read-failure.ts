import { isErrorCode, PagefleetError } from '@pagefleet/contract';
import type { CallFailure } from './decide-retry.ts';

interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[] | undefined>;
}

/** What an answer that is no success says; `text` is its body. */
export function readFailure({ statusCode, headers }: Answer, text: string): CallFailure {
  const body = parseObject(text);
  const { object: _object, message: _message, type: _type, code: _code, ...details } = body;
  const seconds = Number(headers['retry-after']);
  return {
    status: statusCode,
    code: isErrorCode(body.code) ? body.code : null,
    retryAfterMs: Number.isFinite(seconds) && headers['retry-after'] !== undefined ? seconds * 1_000 : null,
    message: typeof body.message === 'string' ? body.message : `HTTP ${statusCode} without an explanation`,
    details,
  };
}

/** What is thrown when not even a connection was made: no process of ours can have lost the request. */
const NOT_CONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
};

/** What undici or the socket threw in a call of the address. */
export function connectionFailure(error: unknown, url: string): CallFailure {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const why = NOT_CONNECTED[code];
  if (why !== undefined) {
    return {
      status: null,
      code: 'unreachable',
      retryAfterMs: null,
      message: `Nothing answers at ${url}: ${why}.`,
    };
  }
  return { status: null, code: null, retryAfterMs: null, message: message || code || 'the connection broke' };
}

export function toError(failure: CallFailure, cause?: unknown): PagefleetError {
  const code = failure.code ?? codeOfStatus(failure.status);
  return new PagefleetError(code, failure.message, {
    cause,
    details: { ...failure.details, status: failure.status },
  });
}

function codeOfStatus(status: number | null) {
  switch (status) {
    case null:
    case 502:
    case 503:
      return 'process_lost';
    case 404:
      return 'not_found';
    case 504:
      return 'timeout';
    default:
      return 'internal';
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
