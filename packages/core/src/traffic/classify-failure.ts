import type { ErrorCode } from '@pagefleet/contract';

/** What happened to one dispatch of a page, as seen at the transport. */
export type PageFailure =
  /** connect refused or timed out: nothing of the request was written */
  | { readonly kind: 'not_sent' }
  /** no connection, thread, descriptor or memory of our own; nothing was sent */
  | { readonly kind: 'shortage' }
  /** the pod answered in full; `code` is the code of its error body, if it has one that the catalogue knows */
  | { readonly kind: 'status'; readonly status: number; readonly code?: ErrorCode }
  /** a 200 whose body is no page result */
  | { readonly kind: 'bad_answer' }
  /** the connection broke after the request was written, before the answer was complete */
  | { readonly kind: 'cut' }
  /** our own deadline struck before the answer */
  | { readonly kind: 'timed_out' }
  /** our own deadline struck while the answer was coming, or waited for its client to take it */
  | { readonly kind: 'overran' }
  | { readonly kind: 'client_gone' }
  /** ended by us: the process stops, the document was given up */
  | { readonly kind: 'cancelled' };

export interface FailureVerdict {
  /** what the client is told if the page ends with this */
  readonly code: ErrorCode;
  /** what it says about the pod */
  readonly evidence: 'none' | 'unreachable' | 'refusing';
  readonly next: 'retry' | 'report' | 'fail' | 'drop';
  /** the page is no longer read anywhere: false means that the pod may still be reading it */
  readonly over: boolean;
  /** a reading may have begun, so this is one of the page's attempts (L14) */
  readonly counted: boolean;
  /** the pod took the page and could not read it: two such pods make it the page's fault */
  readonly blamesPage: boolean;
  /** wait before the next dispatch */
  readonly pauseMs: number;
}

interface FailureRow {
  /** one sentence: why this bucket */
  readonly why: string;
  readonly when: (failure: PageFailure) => boolean;
  readonly verdict: FailureVerdict;
}

const SHORTAGE_PAUSE_MS = 250;
const FULL_PAUSE_MS = 100;

const REPORTED_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'document_encrypted',
  'document_damaged',
  'document_without_pages',
  'page_out_of_range',
  'page_unreadable',
  'page_too_large',
  'payload_too_large',
  'unsupported_media_type',
  'empty_body',
]);

const isServerError = isStatus((status) => status >= 500);

const NO_READING = { over: true, counted: false, blamesPage: false, pauseMs: 0 } as const;
const READING_OVER = { over: true, counted: true, blamesPage: false, pauseMs: 0 } as const;
const MAY_STILL_READ = { over: false, counted: true, blamesPage: false, pauseMs: 0 } as const;

/** The table of DESIGN 7.6: the first row that fits wins. */
const ROWS: readonly FailureRow[] = [
  {
    why: 'nobody waits for the page',
    when: ({ kind }) => kind === 'client_gone',
    verdict: { ...MAY_STILL_READ, code: 'client_gone', evidence: 'none', next: 'drop' },
  },
  {
    why: 'we ended it; the client may send it again',
    when: ({ kind }) => kind === 'cancelled',
    verdict: { ...MAY_STILL_READ, code: 'stopping', evidence: 'none', next: 'fail' },
  },
  {
    why: 'the pod works, the answer only was too long or its client too slow',
    when: ({ kind }) => kind === 'overran',
    verdict: { ...MAY_STILL_READ, code: 'page_deadline', evidence: 'none', next: 'fail' },
  },
  {
    why: 'our own shortage is nobody’s fault (R-026)',
    when: ({ kind }) => kind === 'shortage',
    verdict: {
      ...NO_READING,
      code: 'local_shortage',
      evidence: 'none',
      next: 'retry',
      pauseMs: SHORTAGE_PAUSE_MS,
    },
  },
  {
    why: 'a pod that cannot be connected to is looked at; the page was never sent (R-030)',
    when: ({ kind }) => kind === 'not_sent',
    verdict: { ...NO_READING, code: 'pod_failed', evidence: 'unreachable', next: 'retry' },
  },
  {
    why: 'a full pod is healthy: the page waits for a slot (DESIGN 6)',
    when: isStatus((status, code) => code === 'pod_full' || status === 429),
    verdict: { ...NO_READING, code: 'pod_full', evidence: 'none', next: 'retry', pauseMs: FULL_PAUSE_MS },
  },
  {
    why: 'wrong token or owner: the pod refuses us, whatever the page',
    when: isStatus(
      (status, code) => code === 'wrong_owner' || status === 401 || status === 403 || status === 409,
    ),
    verdict: { ...NO_READING, code: 'pod_refused', evidence: 'refusing', next: 'retry' },
  },
  {
    why: 'the pod gave the page up at its deadline and says so: the reading is over and so is the time',
    when: isStatus((status, code) => code === 'page_deadline' || status === 504),
    verdict: { ...READING_OVER, code: 'page_deadline', evidence: 'none', next: 'fail' },
  },
  {
    why: 'the engine is starting or dead, or the pod is out of something: it refused before reading',
    when: isStatus((status) => status === 503),
    verdict: { ...NO_READING, code: 'engine_not_ready', evidence: 'refusing', next: 'retry' },
  },
  {
    why: 'the document’s own fault, told for that page',
    when: isStatus((status, code) => isReported(code) || status === 413 || status === 415 || status === 422),
    verdict: { ...READING_OVER, code: 'page_unreadable', evidence: 'none', next: 'report' },
  },
  {
    why: 'the engine failed on the page, or its reading came back broken',
    when: (failure) => failure.kind === 'bad_answer' || isServerError(failure),
    verdict: {
      ...READING_OVER,
      blamesPage: true,
      code: 'engine_failed',
      evidence: 'refusing',
      next: 'retry',
    },
  },
  {
    why: 'the pod took the page and found it wrong',
    when: isStatus((status) => status === 400),
    verdict: { ...READING_OVER, blamesPage: true, code: 'pod_refused', evidence: 'refusing', next: 'retry' },
  },
  {
    why: 'an answer no gateway gives: something else listens there',
    when: ({ kind }) => kind === 'status',
    verdict: { ...NO_READING, code: 'pod_refused', evidence: 'refusing', next: 'retry' },
  },
  {
    why: 'it died or the way to it broke: again only when the first reading is known to be over',
    when: ({ kind }) => kind === 'cut',
    verdict: { ...MAY_STILL_READ, code: 'pod_failed', evidence: 'unreachable', next: 'retry' },
  },
];

/** Last row: our deadline struck. The pod is looked at, since a hung one is found no other way. */
const TIMED_OUT: FailureVerdict = {
  ...MAY_STILL_READ,
  code: 'page_deadline',
  evidence: 'unreachable',
  next: 'retry',
};

export function classifyFailure(failure: PageFailure): FailureVerdict {
  const verdict = ROWS.find((row) => row.when(failure))?.verdict ?? TIMED_OUT;
  if (verdict.next !== 'report' || failure.kind !== 'status') return verdict;
  return { ...verdict, code: reportedCode(failure.status, failure.code) };
}

function reportedCode(status: number, code: ErrorCode | undefined): ErrorCode {
  if (code !== undefined && REPORTED_CODES.has(code)) return code;
  if (status === 413) return 'page_too_large';
  return status === 415 ? 'unsupported_media_type' : 'page_unreadable';
}

function isReported(code: ErrorCode | undefined): boolean {
  return code !== undefined && REPORTED_CODES.has(code);
}

function isStatus(
  fits: (status: number, code: ErrorCode | undefined) => boolean,
): (failure: PageFailure) => boolean {
  return (failure) => failure.kind === 'status' && fits(failure.status, failure.code);
}
