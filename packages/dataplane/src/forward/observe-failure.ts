import { isErrorCode } from '@pagefleet/contract';
import type { PageFailure } from '@pagefleet/core';
import type { PodAnswer } from './pod-client.ts';

/** Why we ended a dispatch; the reason of its abort signal. */
export type StopReason = 'client_gone' | 'timed_out' | 'cancelled';

/** Shortages of this machine: descriptors, ports, buffers, memory, our own connections. */
const SHORTAGE = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Our own connections were closed under the page, which had not been written yet. */
const CLOSED_BY_US = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

/** The one place that reads foreign errors of a dispatch. */
export function observeFailure(error: unknown, stopped: StopReason | null): PageFailure {
  if (stopped) return { kind: stopped };
  const { code = '', syscall = '' } = (error ?? {}) as NodeJS.ErrnoException;
  if (SHORTAGE.has(code) || CLOSED_BY_US.has(code)) return { kind: 'shortage' };
  if (NOT_CONNECTED.has(code) || syscall === 'connect') return { kind: 'not_sent' };
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return { kind: 'timed_out' };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { kind: 'bad_answer' };
  return { kind: 'cut' };
}

export function observeStatus({ status, text }: PodAnswer): PageFailure {
  const code = errorCodeOf(text);
  return code === null ? { kind: 'status', status } : { kind: 'status', status, code };
}

function errorCodeOf(text: string) {
  try {
    const body: unknown = JSON.parse(text);
    const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : null;
    return isErrorCode(code) ? code : null;
  } catch {
    return null;
  }
}
