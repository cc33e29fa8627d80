import { ERRORS, PagefleetError } from '@pagefleet/contract';
import { BrokenReply, ReplyTimeout, ServerRefusal } from '@pagefleet/engines';
import { broken, type FailedDispatch, failed, refused, showsPod } from '../forward/dispatch.ts';
import type { StopReason } from '../forward/observe-failure.ts';
import type { PodEntry } from '../forward/pod-table.ts';

/** of what a model server said against a request, for the log */
const LOGGED_CHARS = 300;

/**
 * What went wrong with a page that is read on this worker, in the words of the one table. Null: a fault of ours that no
 * pod and no page is to blame for.
 */
export function observeReading(
  error: unknown,
  stopped: StopReason | null,
  pod: PodEntry,
): FailedDispatch | null {
  if (stopped) return failed({ kind: stopped });
  if (error instanceof ServerRefusal) return refusedByServer(error, pod);
  if (error instanceof ReplyTimeout) return { ...failed({ kind: 'timed_out' }), reason: error.name };
  // The answer is over, so nothing of it runs on: another pod may read the page.
  if (error instanceof BrokenReply) return { ...failed({ kind: 'bad_answer' }), reason: error.message };
  if (!(error instanceof PagefleetError)) return broken(error, null);
  const { code, message, details } = error;
  if (code === 'local_shortage') return { ...failed({ kind: 'shortage' }), reason: message };
  if (!isOfThePage(error)) return null;
  const param = details.param ?? null;
  return failed({ kind: 'status', status: ERRORS[code].httpStatus, code }, { code, message, param });
}

/** The statuses by which the table knows the document’s own fault. */
function isOfThePage({ code }: PagefleetError): boolean {
  return /^(document|page)_/.test(code) && code !== 'page_deadline' && code !== 'page_parked';
}

/** The words of the companion, or those of the model server behind it unless they show the pod. */
function refusedByServer({ status, body, message }: ServerRefusal, pod: PodEntry): FailedDispatch {
  const outcome = refused(status, body, pod);
  const { refusal } = outcome;
  const said = refusal?.code === null && !showsPod(body, pod) ? { ...refusal, message } : refusal;
  return { ...outcome, refusal: said, reason: body.slice(0, LOGGED_CHARS) };
}
