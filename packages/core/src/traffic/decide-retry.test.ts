import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyFailure, type PageFailure } from './classify-failure.ts';
import { type Attempt, decideRetry } from './decide-retry.ts';

const budget = { maxAttempts: 3, deadlineAtMs: 1_000 };
let dispatches = 0;

function attempt(podId: string, failure: PageFailure, reading?: Attempt['reading']): Attempt {
  const verdict = classifyFailure(failure);
  dispatches += 1;
  return {
    dispatchId: `d${dispatches}`,
    podId,
    verdict,
    reading: reading ?? (verdict.over ? 'over' : 'open'),
  };
}
const failed: PageFailure = { kind: 'status', status: 502, code: 'engine_failed' };
const full: PageFailure = { kind: 'status', status: 429, code: 'pod_full' };

const anyFailure: fc.Arbitrary<PageFailure> = fc.oneof(
  fc.constantFrom<PageFailure>(
    { kind: 'not_sent' },
    { kind: 'shortage' },
    { kind: 'cut' },
    { kind: 'timed_out' },
    { kind: 'overran' },
    { kind: 'bad_answer' },
    full,
  ),
  fc.record({ kind: fc.constant('status' as const), status: fc.integer({ min: 300, max: 599 }) }),
);

describe('what a page does after a failure (DESIGN 7.6, R-021, R-026, L14)', () => {
  test('readings_stay_within_the_budget_and_none_starts_while_another_may_still_run', () => {
    const life = fc.array(
      fc.record({ failure: anyFailure, pod: fc.constantFrom('a', 'b', 'c', 'd'), known: fc.boolean() }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(life, (steps) => {
        const attempts: Attempt[] = [];
        let readings = 0;
        for (const { failure, pod, known } of steps) {
          let decision = decideRetry(attempts, budget, 0);
          if (decision.kind === 'confirm_over') {
            const index = attempts.findIndex(
              (a) => decision.kind === 'confirm_over' && a.dispatchId === decision.dispatchId,
            );
            const asked = attempts[index];
            if (asked) attempts[index] = { ...asked, reading: known ? 'over' : 'unknowable' };
            decision = decideRetry(attempts, budget, 0);
          }
          if (decision.kind !== 'dispatch') return;
          expect(attempts.every((a) => a.reading === 'over')).toBe(true);
          attempts.push(attempt(pod, failure));
          if (attempts.at(-1)?.verdict.counted) readings += 1;
          expect(readings).toBeLessThanOrEqual(budget.maxAttempts);
        }
      }),
    );
  });

  test('a_page_refused_by_one_pod_goes_to_another', () => {
    expect(decideRetry([attempt('a', failed)], budget, 0)).toEqual({
      kind: 'dispatch',
      exclude: new Set(['a']),
      pauseMs: 0,
    });
  });

  test('a_page_refused_by_two_pods_is_parked_and_both_are_cleared', () => {
    const refusals: fc.Arbitrary<PageFailure> = fc.constantFrom<PageFailure>(
      failed,
      { kind: 'bad_answer' },
      { kind: 'status', status: 400 },
    );
    fc.assert(
      fc.property(refusals, refusals, fc.array(anyFailure, { maxLength: 2 }), (one, two, between) => {
        const others = between.map((f) => attempt('b', f, 'over')).filter((a) => !a.verdict.blamesPage);
        const decision = decideRetry([attempt('a', one), ...others, attempt('c', two)], budget, 0);
        expect(decision).toEqual({ kind: 'park', code: 'page_parked', clear: ['a', 'c'] });
      }),
    );
  });

  test('a_page_refused_twice_by_the_same_pod_is_not_the_pages_fault_yet', () => {
    expect(decideRetry([attempt('a', failed), attempt('a', failed)], budget, 0).kind).toBe('dispatch');
  });

  test('pods_that_die_do_not_make_it_the_pages_fault', () => {
    const attempts = [attempt('a', { kind: 'cut' }, 'over'), attempt('b', { kind: 'cut' }, 'over')];
    expect(decideRetry(attempts, budget, 0).kind).toBe('dispatch');
  });

  test('our_shortage_and_a_full_pod_cost_nothing_however_often_they_come (R-026)', () => {
    const attempts = Array.from({ length: 50 }, (_, i) => attempt('a', i % 2 ? full : { kind: 'shortage' }));
    const decision = decideRetry(attempts, budget, 0);
    expect(decision).toMatchObject({ kind: 'dispatch', exclude: new Set() });
    expect(decision.kind === 'dispatch' && decision.pauseMs).toBeGreaterThan(0);
  });

  test('a_page_that_our_shortage_kept_back_to_its_deadline_is_told_so_and_not_that_it_took_too_long (R-026)', () => {
    const attempts = [attempt('a', { kind: 'not_sent' }), attempt('a', { kind: 'shortage' })];
    expect(decideRetry(attempts, budget, 1_000)).toEqual({ kind: 'fail', code: 'local_shortage' });
  });

  test('a_page_cut_off_is_sent_again_only_when_its_reading_is_known_to_be_over', () => {
    const cut = attempt('a', { kind: 'cut' });
    expect(decideRetry([cut], budget, 0)).toEqual({
      kind: 'confirm_over',
      podId: 'a',
      dispatchId: cut.dispatchId,
    });
    expect(decideRetry([{ ...cut, reading: 'over' }], budget, 0).kind).toBe('dispatch');
    expect(decideRetry([{ ...cut, reading: 'unknowable' }], budget, 0)).toEqual({
      kind: 'fail',
      code: 'pod_failed',
    });
  });

  test('the_end_of_the_budget_tells_the_last_failure_and_the_deadline_ends_everything', () => {
    const three = ['a', 'b', 'c'].map((id) => attempt(id, { kind: 'cut' }, 'over'));
    expect(decideRetry(three, budget, 0)).toEqual({ kind: 'fail', code: 'pod_failed' });
    expect(decideRetry([attempt('a', { kind: 'not_sent' })], budget, 1_000)).toEqual({
      kind: 'fail',
      code: 'page_deadline',
    });
  });

  test('the_documents_fault_is_reported_and_a_client_that_left_is_told_nothing', () => {
    const tooLarge: PageFailure = { kind: 'status', status: 422, code: 'page_too_large' };
    expect(decideRetry([attempt('a', tooLarge)], budget, 0)).toEqual({
      kind: 'report',
      code: 'page_too_large',
    });
    expect(decideRetry([attempt('a', { kind: 'client_gone' })], budget, 0)).toEqual({ kind: 'drop' });
    expect(decideRetry([attempt('a', { kind: 'cancelled' })], budget, 0)).toEqual({
      kind: 'fail',
      code: 'stopping',
    });
  });
});
