import type { PagefleetError, PageResult } from '@pagefleet/contract';
import type { Attempt, QueueItem } from '@pagefleet/core';
import type { PageKind } from '@pagefleet/engines';
import type { HeldBytes } from '../read/held-bytes.ts';

export type PageOutcome =
  | { readonly kind: 'read'; readonly result: PageResult }
  | { readonly kind: 'failed'; readonly error: PagefleetError };

/** One page on its way: waiting, in flight, or pausing before its next dispatch. */
export interface PageJob extends QueueItem {
  /** unique in the cluster; dispatch ids begin with it */
  readonly id: string;
  readonly pool: string;
  readonly body: HeldBytes;
  readonly kind: PageKind;
  /** `PageOptions` as the gateway takes them, or null */
  readonly optionsHeader: string | null;
  readonly requestId: string;
  /** Raised when nobody waits for the page any more. */
  readonly signal: AbortSignal;
  /** When no slot is held for the page any more. Later calls do nothing. */
  settle(outcome: PageOutcome): void;

  readonly attempts: Attempt[];
  dispatches: number;
  /** pods that failed on this page */
  exclude: ReadonlySet<string>;
  /** counted from the first dispatch; null before it */
  deadlineAtMs: number | null;
}
