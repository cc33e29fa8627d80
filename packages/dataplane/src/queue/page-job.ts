import type { PagefleetError, PageResult } from '@pagefleet/contract';
import type { Attempt, QueueItem } from '@pagefleet/core';
import type { Dispatch, DispatchOutcome } from '../forward/dispatch.ts';

export type PageOutcome<Result = PageResult> =
  | { readonly kind: 'read'; readonly result: Result }
  | { readonly kind: 'failed'; readonly error: PagefleetError };

/** One page on its way: waiting, in flight, or pausing before its next dispatch. A chat request is one page, too. */
export interface PageJob<Result = unknown> extends QueueItem {
  /** unique in the cluster; dispatch ids begin with it */
  readonly id: string;
  readonly pool: string;
  /** under which it is counted */
  readonly what: 'page' | 'chat';
  readonly requestId: string;
  /** Raised when nobody waits for the page any more. */
  readonly signal: AbortSignal;
  /** Sends it to one pod once and waits for the end. Never rejects. */
  send(dispatch: Dispatch): Promise<DispatchOutcome<Result>>;
  /** When no slot is held for the page any more. Later calls do nothing. */
  settle(outcome: PageOutcome<Result>): void;

  readonly attempts: Attempt[];
  dispatches: number;
  /** pods that failed on this page */
  exclude: ReadonlySet<string>;
  /** counted from the first dispatch; null before it */
  deadlineAtMs: number | null;
}
