import { ERRORS, type ErrorCode, PagefleetError } from '@pagefleet/contract';
import type { Attempt, RetryDecision } from '@pagefleet/core';
import { isRequestFault, type PodRefusal } from './observe-failure.ts';

type FinalDecision = Exclude<RetryDecision, { kind: 'dispatch' }>;

/** What the client is told of a page that is not sent again. */
export function pageError(
  decision: FinalDecision,
  attempts: readonly Attempt[],
  refusal: PodRefusal | null,
): PagefleetError {
  if (decision.kind === 'drop') return clientGone();
  // An open reading has been asked after, and learnt about or given up, before anything is decided.
  const code: ErrorCode = decision.kind === 'confirm_over' ? 'pod_failed' : decision.code;
  const details = { attempts: attempts.map(({ verdict }) => verdict.code) };
  const said = refusal?.message ?? null;
  if (decision.kind === 'report' && isRequestFault(refusal)) {
    return new PagefleetError('bad_request', said ?? ERRORS.bad_request.doc, {
      details: { param: 'languages' },
    });
  }
  if (code === 'page_parked' && said !== null) {
    return new PagefleetError(code, `two pods failed on this page; the last one said: ${said}`, { details });
  }
  return new PagefleetError(code, said ?? ERRORS[code].doc, { details });
}

export function clientGone(): PagefleetError {
  return new PagefleetError('client_gone', 'the client hung up');
}
