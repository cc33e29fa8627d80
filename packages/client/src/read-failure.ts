import { isErrorCode, PagefleetError } from '@pagefleet/contract';
import type { CallFailure } from './decide-retry.ts';

interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[] | undefined>;
}

/** What an answer that is no success says; `text` is its body. */
export function readFailure({ statusCode, headers }: Answer, text: string): CallFailure {
  const body = parseObject(text);
  const seconds = Number(headers['retry-after']);
  return {
    status: statusCode,
    code: isErrorCode(body.code) ? body.code : null,
    retryAfterMs: Number.isFinite(seconds) && headers['retry-after'] !== undefined ? seconds * 1_000 : null,
    message: typeof body.message === 'string' ? body.message : `HTTP ${statusCode} without an explanation`,
  };
}

/** What undici or the socket threw. */
export function connectionFailure(error: unknown): CallFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  return { status: null, code: null, retryAfterMs: null, message: message || code || 'the connection broke' };
}

export function toError(failure: CallFailure, cause?: unknown): PagefleetError {
  const code = failure.code ?? codeOfStatus(failure.status);
  return new PagefleetError(code, failure.message, { cause, details: { status: failure.status } });
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
