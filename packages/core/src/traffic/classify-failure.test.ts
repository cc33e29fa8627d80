import type { ErrorCode } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { classifyFailure, type PageFailure } from './classify-failure.ts';

const status = (code: number, error?: ErrorCode): PageFailure => ({
  kind: 'status',
  status: code,
  ...(error === undefined ? {} : { code: error }),
});

/** [what happened, told as, evidence against the pod, what the page does, counted, over, blames the page] */
const CASES: ReadonlyArray<[PageFailure, ErrorCode, string, string, boolean, boolean, boolean]> = [
  [{ kind: 'not_sent' }, 'pod_failed', 'unreachable', 'retry', false, true, false],
  [{ kind: 'shortage' }, 'local_shortage', 'none', 'retry', false, true, false],
  [status(429, 'pod_full'), 'pod_full', 'none', 'retry', false, true, false],
  [status(401, 'unauthorized'), 'pod_refused', 'refusing', 'retry', false, true, false],
  [status(409, 'wrong_owner'), 'pod_refused', 'refusing', 'retry', false, true, false],
  [status(503, 'engine_not_ready'), 'engine_not_ready', 'refusing', 'retry', false, true, false],
  [status(504, 'page_deadline'), 'page_deadline', 'none', 'fail', true, true, false],
  [status(413), 'page_too_large', 'none', 'report', true, true, false],
  [status(415), 'unsupported_media_type', 'none', 'report', true, true, false],
  [status(422, 'page_unreadable'), 'page_unreadable', 'none', 'report', true, true, false],
  [status(400, 'document_damaged'), 'document_damaged', 'none', 'report', true, true, false],
  [status(400, 'bad_request'), 'pod_refused', 'refusing', 'retry', true, true, true],
  [status(502, 'engine_failed'), 'engine_failed', 'refusing', 'retry', true, true, true],
  [status(500), 'engine_failed', 'refusing', 'retry', true, true, true],
  [{ kind: 'bad_answer' }, 'engine_failed', 'refusing', 'retry', true, true, true],
  [status(404), 'pod_refused', 'refusing', 'retry', false, true, false],
  [status(302), 'pod_refused', 'refusing', 'retry', false, true, false],
  [{ kind: 'cut' }, 'pod_failed', 'unreachable', 'retry', true, false, false],
  [{ kind: 'timed_out' }, 'page_deadline', 'unreachable', 'retry', true, false, false],
  [{ kind: 'overran' }, 'page_deadline', 'none', 'fail', true, false, false],
  [{ kind: 'client_gone' }, 'client_gone', 'none', 'drop', true, false, false],
  [{ kind: 'cancelled' }, 'stopping', 'none', 'fail', true, false, false],
];

describe('the failure table (DESIGN 7.6, R-021, R-026, R-030)', () => {
  test.each(CASES)('%j is told as %s', (failure, code, evidence, next, counted, over, blamesPage) => {
    expect(classifyFailure(failure)).toMatchObject({ code, evidence, next, counted, over, blamesPage });
  });

  test('a_failure_that_is_no_evidence_and_no_attempt_is_paused_so_that_it_does_not_spin', () => {
    for (const [failure] of CASES) {
      const verdict = classifyFailure(failure);
      const spins = verdict.next === 'retry' && verdict.evidence === 'none' && !verdict.counted;
      if (spins) expect(verdict.pauseMs).toBeGreaterThan(0);
    }
  });
});
