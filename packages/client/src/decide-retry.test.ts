import { ERRORS, type ErrorCode } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CallFailure, decideRetry, isBlamed, type RetryState } from './decide-retry.ts';

const FRESH: RetryState = { failures: 1, blamed: 0, notFoundForMs: 0, jitter: 0.5 };

function failure(
  status: number | null,
  code: ErrorCode | null,
  retryAfterMs: number | null = null,
): CallFailure {
  return { status, code, retryAfterMs, message: 'x' };
}

describe('the retry table of the client (R-080)', () => {
  test('a_full_cluster_is_waited_for_as_long_as_it_says_and_as_often_as_it_takes', () => {
    const full = failure(429, 'queue_full', 7_000);
    for (const failures of [1, 10, 10_000]) {
      expect(decideRetry(full, { ...FRESH, failures })).toEqual({ kind: 'wait', ms: 7_000 });
    }
  });

  test('an_outage_is_waited_for_with_growing_pauses_that_have_an_end', () => {
    const outages = [failure(null, null), failure(502, null), failure(504, null), failure(503, 'starting')];
    for (const outage of outages) {
      const first = decideRetry(outage, FRESH);
      const late = decideRetry(outage, { ...FRESH, failures: 500 });
      expect(first).toEqual({ kind: 'wait', ms: 500 });
      expect(late).toEqual({ kind: 'wait', ms: 30_000 });
    }
  });

  test('a_page_that_a_pod_is_blamed_for_is_tried_five_times', () => {
    const blamed = failure(502, 'pod_failed');
    expect(isBlamed(blamed)).toBe(true);
    expect(decideRetry(blamed, { ...FRESH, blamed: 4 }).kind).toBe('wait');
    expect(decideRetry(blamed, { ...FRESH, blamed: 5 })).toEqual({ kind: 'stop', why: 'attempts' });
  });

  test('a_lost_process_of_ours_blames_no_page', () => {
    expect(isBlamed(failure(502, 'process_lost'))).toBe(false);
    expect(decideRetry(failure(502, 'process_lost'), { ...FRESH, failures: 99 }).kind).toBe('wait');
  });

  test('a_missing_path_is_waited_for_five_minutes_then_it_is_the_end', () => {
    const missing = failure(404, 'not_found');
    expect(decideRetry(missing, { ...FRESH, notFoundForMs: 299_999 }).kind).toBe('wait');
    expect(decideRetry(missing, { ...FRESH, notFoundForMs: 300_000 })).toEqual({
      kind: 'stop',
      why: 'not_found',
    });
  });

  test('what_is_wrong_with_the_document_or_the_key_is_final', () => {
    for (const [status, code] of [
      [400, 'document_encrypted'],
      [413, 'payload_too_large'],
      [422, 'page_unreadable'],
      [401, 'unauthorized'],
      [403, 'forbidden'],
      [418, null],
    ] as const) {
      expect(decideRetry(failure(status, code), FRESH)).toEqual({ kind: 'stop', why: 'final' });
    }
  });

  test('no_pause_is_shorter_than_the_server_asked_for', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[];
    fc.assert(
      fc.property(
        fc.constantFrom(...codes),
        fc.integer({ min: 0, max: 600_000 }),
        fc.integer({ min: 1, max: 1_000 }),
        (code, retryAfterMs, failures) => {
          const { httpStatus } = ERRORS[code];
          fc.pre(httpStatus === 429 || httpStatus === 503);
          const decision = decideRetry(failure(httpStatus, code, retryAfterMs), { ...FRESH, failures });
          if (decision.kind === 'wait') expect(decision.ms).toBeGreaterThanOrEqual(retryAfterMs);
        },
      ),
    );
  });
});
