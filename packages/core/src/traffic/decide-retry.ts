import type { ErrorCode } from '@pagefleet/contract';
import type { FailureVerdict } from './classify-failure.ts';

/** One dispatch of a page that failed. */
export interface Attempt {
  /** also the id that `DELETE /v1/page/{id}` ends */
  readonly dispatchId: string;
  readonly podId: string;
  readonly verdict: FailureVerdict;
  /**
   * `over`: no reading of this dispatch runs (the verdict says so, the gateway confirmed it, or the pod is gone);
   * `open`: not known yet; `unknowable`: it was asked for and could not be learnt.
   */
  readonly reading: 'over' | 'open' | 'unknowable';
}

export interface RetryBudget {
  /** readings that may be begun for one page */
  readonly maxAttempts: number;
  readonly deadlineAtMs: number;
}

export type RetryDecision =
  | { readonly kind: 'dispatch'; readonly exclude: ReadonlySet<string>; readonly pauseMs: number }
  /** end that reading, learn that it is over, set the attempt's `reading`, and ask again */
  | { readonly kind: 'confirm_over'; readonly podId: string; readonly dispatchId: string }
  /** the page is at fault; these pods are cleared of what it said about them */
  | { readonly kind: 'park'; readonly code: 'page_parked'; readonly clear: readonly string[] }
  /** the page ends with this code: `report` is the document's fault, `fail` may be sent again */
  | { readonly kind: 'report' | 'fail'; readonly code: ErrorCode }
  | { readonly kind: 'drop' };

const PODS_THAT_MAKE_IT_THE_PAGES_FAULT = 2;

/** What becomes of a page after its newest failure, the last of `attempts` (R-021, R-026, L14). */
export function decideRetry(attempts: readonly Attempt[], budget: RetryBudget, nowMs: number): RetryDecision {
  const last = attempts.at(-1);
  if (last === undefined) return { kind: 'dispatch', exclude: new Set(), pauseMs: 0 };
  const { verdict } = last;
  if (verdict.next === 'drop') return { kind: 'drop' };
  if (verdict.next !== 'retry') return { kind: verdict.next, code: verdict.code };

  const blaming = new Set(attempts.filter((a) => a.verdict.blamesPage).map((a) => a.podId));
  if (blaming.size >= PODS_THAT_MAKE_IT_THE_PAGES_FAULT) {
    return { kind: 'park', code: 'page_parked', clear: [...blaming] };
  }
  if (nowMs >= budget.deadlineAtMs) return { kind: 'fail', code: codeAtDeadline(verdict) };

  const counted = attempts.filter((a) => a.verdict.counted);
  if (counted.length >= budget.maxAttempts) return { kind: 'fail', code: verdict.code };
  if (attempts.some((a) => a.reading === 'unknowable')) return { kind: 'fail', code: verdict.code };
  const open = attempts.find((a) => a.reading === 'open');
  if (open) return { kind: 'confirm_over', podId: open.podId, dispatchId: open.dispatchId };

  return { kind: 'dispatch', exclude: new Set(counted.map((a) => a.podId)), pauseMs: verdict.pauseMs };
}

/** A page that a shortage of ours kept from every pod did not take too long: it never ran. */
function codeAtDeadline({ code }: FailureVerdict): ErrorCode {
  return code === 'local_shortage' ? code : 'page_deadline';
}
