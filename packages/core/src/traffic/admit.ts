export interface AdmitInput {
  /** pages on pods now */
  readonly inFlight: number;
  /** pages admitted and waiting, not counting pages that are known but not split off: those are pulled with credits */
  readonly queued: number;
  readonly maxInFlight: number;
  /** as configured: 0 follows `maxInFlight` */
  readonly maxQueued: number;
  /** pages asked for at the door: one per document (DESIGN 7.1) */
  readonly pages: number;
  /** finished over the last minute, divided by its seconds; 0 when nothing has finished yet */
  readonly pagesPerSecond: number;
  /** 0 … 1, drawn by the caller */
  readonly jitter: number;
}

/** `refused` holds what the headers of R-013 and the JSON body say. */
export type AdmitDecision =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'refused';
      readonly pagesOver: number;
      readonly retryAfterSeconds: number;
      readonly pageWidth: number;
      readonly queueLimit: number;
      readonly pagesInFlight: number;
      readonly pagesQueued: number;
    };

/** Holds `maxInFlight` + `maxQueued` pages; the next one is refused before its body is read (R-013, L11). */
export function decideAdmit(input: AdmitInput): AdmitDecision {
  const queueLimit = effectiveMaxQueued(input.maxInFlight, input.maxQueued);
  const pagesOver = input.inFlight + input.queued + input.pages - (input.maxInFlight + queueLimit);
  if (pagesOver <= 0) return { kind: 'admitted' };
  return {
    kind: 'refused',
    pagesOver,
    retryAfterSeconds: retryAfterSeconds({ ...input, pagesOver }),
    pageWidth: input.maxInFlight,
    queueLimit,
    pagesInFlight: input.inFlight,
    pagesQueued: input.queued,
  };
}

const MIN_RETRY_SECONDS = 1;
const MAX_RETRY_SECONDS = 30;
const UNKNOWN_RETRY_SECONDS = 10;
const SPREAD = 0.2;

interface RetryAfterInput {
  readonly pagesOver: number;
  readonly pagesPerSecond: number;
  readonly jitter: number;
}

/** Whole seconds until the pages over the limit should have been read, spread so that the refused do not return at once. */
export function retryAfterSeconds({ pagesOver, pagesPerSecond, jitter }: RetryAfterInput): number {
  const expected = pagesPerSecond > 0 ? pagesOver / pagesPerSecond : UNKNOWN_RETRY_SECONDS;
  return Math.round(clampSeconds(clampSeconds(expected) * (1 - SPREAD + 2 * SPREAD * jitter)));
}

function clampSeconds(seconds: number): number {
  return Math.min(MAX_RETRY_SECONDS, Math.max(MIN_RETRY_SECONDS, seconds));
}

/** One worker's part of a ceiling, rounded up: N parts add up to the total at least, and to less than total + N. */
export function shareOf(total: number, n: number): number {
  return Math.ceil(total / Math.max(1, n));
}

export function effectiveMaxQueued(maxInFlight: number, maxQueued: number): number {
  return maxQueued === 0 ? maxInFlight : maxQueued;
}
