import { type ErrorCode, isErrorCode } from '@pagefleet/contract';
import type { PageFailure } from '@pagefleet/core';
import { ConnectFailure } from './pod-connector.ts';

/** Why we ended a dispatch; the reason of its abort signal. */
export type StopReason = 'client_gone' | 'timed_out' | 'cancelled';

/** Shortages of this machine, each with the limit that was reached. */
const SHORTAGES: Readonly<Record<string, string>> = {
  EMFILE: 'open files of this process',
  ENFILE: 'open files of this machine',
  ENOBUFS: 'network buffers of this machine',
  ENOMEM: 'memory of this machine',
  EADDRNOTAVAIL: 'local ports of this machine',
  EAGAIN: 'threads or buffers of this machine',
};
/** Our own connections were closed under the page, which had not been written yet. */
const CLOSED_BY_US = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

/** The one place that reads foreign errors of a dispatch. */
export function observeFailure(error: unknown, stopped: StopReason | null): PageFailure {
  if (stopped) return { kind: stopped };
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  if (Object.hasOwn(SHORTAGES, code) || CLOSED_BY_US.has(code)) return { kind: 'shortage' };
  if (error instanceof ConnectFailure) return { kind: 'not_sent' };
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return { kind: 'timed_out' };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { kind: 'bad_answer' };
  return { kind: 'cut' };
}

/** For a shortage: the limit that was reached, in words that the client may see. `reason` is the system's own word. */
export function limitOf(reason: string | null): string {
  const limit = reason === null ? undefined : SHORTAGES[reason];
  return limit === undefined ? 'connections of this process' : `${limit} (${reason})`;
}

/** What a pod says about a page it did not read, as its gateway writes it. */
export interface PodRefusal {
  readonly code: ErrorCode | null;
  readonly message: string | null;
  readonly param: string | null;
}

/**
 * A page that asks for a language the engines do not have is the request's fault, not the pod's: it is told as such, or
 * anybody could set the pods aside one by one.
 */
export function isRequestFault(refusal: PodRefusal | null): boolean {
  return refusal?.code === 'bad_request' && refusal.param === 'languages';
}

/**
 * What the provider's proxy says when it got no answer of the pod (contract runpod 6.1: 524 after 100 s, 502 while nothing
 * listens; 520 to 523 are its other ways of not reaching it). The pod may still be reading.
 */
const BROKEN_WAY: ReadonlySet<number> = new Set([502, 520, 521, 522, 523, 524]);

export function observeStatus(status: number, refusal: PodRefusal): PageFailure {
  if (isRequestFault(refusal)) return { kind: 'status', status: 422 };
  if (refusal.code === null && BROKEN_WAY.has(status)) return { kind: 'cut' };
  return refusal.code === null ? { kind: 'status', status } : { kind: 'status', status, code: refusal.code };
}

/** `secrets` are texts that no answer of ours may show; a message with one of them is not passed on. */
export function parseRefusal(text: string, secrets: readonly string[]): PodRefusal {
  const body = parseObject(text);
  const code = isErrorCode(body.code) ? body.code : null;
  const safe = typeof body.message === 'string' && !showsAny(text, secrets);
  return {
    code,
    message: code !== null && safe ? String(body.message) : null,
    param: typeof body.param === 'string' ? body.param : null,
  };
}

export function showsAny(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text.includes(secret));
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
