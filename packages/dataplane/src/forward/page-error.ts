import { ERRORS, type ErrorCode, PagefleetError } from '@pagefleet/contract';
import type { Attempt, RetryDecision } from '@pagefleet/core';
import type { PageJob } from '../queue/page-job.ts';
import type { FailedDispatch } from './dispatch.ts';
import { isRequestFault, limitOf } from './observe-failure.ts';

/** Those that cost nothing may be thousands. */
const ATTEMPTS_TOLD = 10;

/** The catalogue speaks of pages. */
const OF_A_CHAT: Partial<Record<ErrorCode, string>> = {
  page_parked: 'Two pods failed on the same request: the request is at fault.',
  page_deadline: 'The request was not answered within its deadline.',
};

type FinalDecision = Exclude<RetryDecision, { kind: 'dispatch' }>;

/** What the client is told of a page or a chat that is not sent again. */
export function pageError(
  decision: FinalDecision,
  { attempts, what }: { readonly attempts: readonly Attempt[]; readonly what: PageJob['what'] },
  { refusal, reason }: Pick<FailedDispatch, 'refusal' | 'reason'>,
): PagefleetError {
  if (decision.kind === 'drop') return clientGone();
  // An open reading has been asked after, and learnt about or given up, before anything is decided.
  const code: ErrorCode = decision.kind === 'confirm_over' ? 'pod_failed' : decision.code;
  const details = { attempts: attempts.slice(-ATTEMPTS_TOLD).map(({ verdict }) => verdict.code) };
  const said = refusal?.message ?? null;
  const thing = what === 'page' ? 'page' : 'request';
  const doc = (what === 'chat' && OF_A_CHAT[code]) || ERRORS[code].doc;
  if (decision.kind === 'report' && isRequestFault(refusal)) {
    return new PagefleetError('bad_request', said ?? ERRORS.bad_request.doc, {
      details: { param: 'languages' },
    });
  }
  if (code === 'local_shortage') {
    return new PagefleetError(
      code,
      `the ${thing} could not be sent for want of ${limitOf(reason)}; no pod is at fault`,
      {
        details,
      },
    );
  }
  if (code === 'page_parked' && said !== null) {
    return new PagefleetError(code, `two pods failed on this ${thing}; the last one said: ${said}`, {
      details,
    });
  }
  return new PagefleetError(code, said ?? doc, { details });
}

export function clientGone(): PagefleetError {
  return new PagefleetError('client_gone', 'the client hung up');
}
