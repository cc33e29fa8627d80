import { ERRORS, type ErrorCode } from '@pagefleet/contract';

/** How one attempt ended without an answer that counts. */
export interface CallFailure {
  /** null = no HTTP answer: refused, cut, timed out */
  readonly status: number | null;
  /** null = an answer without our body: nginx's own, or another program's */
  readonly code: ErrorCode | null;
  readonly retryAfterMs: number | null;
  readonly message: string;
  /** what else the answer's body says, as it came */
  readonly details?: Readonly<Record<string, unknown>>;
}

export type RetryDecision =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'stop'; readonly why: 'final' | 'attempts' | 'not_found' };

export interface RetryState {
  /** failures in a row, this one included */
  readonly failures: number;
  /** failures in a row that blame the pod or us, this one included */
  readonly blamed: number;
  readonly notFoundForMs: number;
  /** 0 ≤ jitter < 1 */
  readonly jitter: number;
}

const MAX_BLAMED_ATTEMPTS = 5;
const MAX_NOT_FOUND_MS = 5 * 60_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** The retry table of R-080. Fullness and outages are waited out however long they take; a document's fault is final. */
export function decideRetry(failure: CallFailure, state: RetryState): RetryDecision {
  const { status, code } = failure;
  if (status === 404) {
    return state.notFoundForMs < MAX_NOT_FOUND_MS ? backoff(state) : { kind: 'stop', why: 'not_found' };
  }
  if (status === 429) return { kind: 'wait', ms: failure.retryAfterMs ?? backoffMs(state) };
  const rule = code ? ERRORS[code].retry : ruleOfStatus(status);
  switch (rule) {
    case 'never':
      return { kind: 'stop', why: 'final' };
    case 'limited':
      return state.blamed < MAX_BLAMED_ATTEMPTS ? backoff(state) : { kind: 'stop', why: 'attempts' };
    case 'after':
    case 'backoff':
      return { kind: 'wait', ms: failure.retryAfterMs ?? backoffMs(state) };
  }
}

/** Whether the failure counts towards the five attempts that a page has. */
export function isBlamed({ code, status }: CallFailure): boolean {
  return code ? ERRORS[code].retry === 'limited' : status === 500;
}

/** An answer without a code did not come from a pod: 502, 503 and 504 are outages on the way. */
function ruleOfStatus(status: number | null): 'never' | 'limited' | 'backoff' {
  if (status === null || status === 408 || status === 502 || status === 503 || status === 504)
    return 'backoff';
  return status >= 500 ? 'limited' : 'never';
}

function backoff(state: RetryState): RetryDecision {
  return { kind: 'wait', ms: backoffMs(state) };
}

function backoffMs({ failures, jitter }: RetryState): number {
  const full = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
  return Math.round(full * (0.8 + 0.4 * jitter));
}
