import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decidePoolSuspension, type Refusal } from './pool-suspension.ts';

const never = { untilMs: 0, pauseMs: 0 };
const refusal = (podId: string, document: string | undefined, atMs = 0): Refusal => ({
  podId,
  document,
  atMs,
});
const decide = (refusals: Refusal[], servingPods: number, previous = never, nowMs = 0) =>
  decidePoolSuspension({ refusals, servingPods, previous, nowMs });

describe('suspicion of a whole pool (R-021)', () => {
  test('half_of_the_pods_refusing_different_documents_suspend_it_for_30_s', () => {
    const refusals = [refusal('a', 'x'), refusal('b', 'y')];
    expect(decide(refusals, 4)).toEqual({ untilMs: 30_000, pauseMs: 30_000 });
    expect(decide(refusals, 5)).toEqual(never);
  });

  test('one_pod_alone_never_suspends_a_pool_not_even_its_own', () => {
    expect(decide([refusal('a', 'x'), refusal('a', 'y'), refusal('a', 'z')], 1)).toEqual(never);
  });

  test('two_sick_pods_of_128_suspend_nothing', () => {
    const refusals = Array.from({ length: 200 }, (_, i) => refusal(`p${i % 2}`, `d${i}`));
    expect(decide(refusals, 128)).toEqual(never);
  });

  test('one_document_alone_suspends_nothing_however_many_pods_refuse_it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20), { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        (pods, serving) => {
          expect(
            decide(
              pods.map((p) => refusal(`p${p}`, 'bad')),
              serving,
            ),
          ).toEqual(never);
        },
      ),
    );
  });

  test('a_bad_document_and_one_stray_refusal_do_not_suspend_a_pool_of_eight', () => {
    const bad = Array.from({ length: 8 }, (_, i) => refusal(`p${i}`, 'bad'));
    expect(decide([...bad, refusal('p0', 'stray')], 8)).toEqual(never);
  });

  test('two_long_documents_refused_everywhere_suspend_a_large_pool', () => {
    const refusals = Array.from({ length: 64 }, (_, i) => refusal(`p${i}`, i % 2 ? 'x' : 'y'));
    expect(decide(refusals, 128).untilMs).toBe(30_000);
  });

  test('a_pod_that_refused_both_documents_counts_once_for_the_one_that_helps', () => {
    const refusals = [refusal('a', 'x'), refusal('a', 'y'), refusal('b', 'x')];
    expect(decide(refusals, 4).untilMs).toBe(30_000);
  });

  test('requests_without_a_document_are_documents_of_their_own', () => {
    expect(decide([refusal('a', undefined), refusal('b', undefined)], 2).untilMs).toBe(30_000);
  });

  test('refusals_older_than_a_minute_or_than_the_last_pause_count_no_more', () => {
    const refusals = [refusal('a', 'x', 1_000), refusal('b', 'y', 50_000)];
    expect(decide(refusals, 2, never, 61_001)).toEqual(never);
    expect(decide(refusals, 2, { untilMs: 20_000, pauseMs: 30_000 }, 55_000).untilMs).toBe(20_000);
  });

  test('the_pause_doubles_to_300_s_while_it_relapses_and_starts_anew_after_a_good_while', () => {
    let previous = never;
    const pauses: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      const nowMs = previous.untilMs + 1_000;
      previous = decide([refusal('a', 'x', nowMs), refusal('b', 'y', nowMs)], 2, previous, nowMs);
      pauses.push(previous.pauseMs / 1_000);
    }
    expect(pauses).toEqual([30, 60, 120, 240, 300, 300]);
    const laterMs = previous.untilMs + 300_000;
    expect(
      decide([refusal('a', 'x', laterMs), refusal('b', 'y', laterMs)], 2, previous, laterMs).pauseMs,
    ).toBe(30_000);
  });

  test('a_suspended_pool_stays_suspended_until_its_time_is_over', () => {
    const previous = { untilMs: 40_000, pauseMs: 30_000 };
    expect(decide([refusal('a', 'x', 39_000), refusal('b', 'y', 39_000)], 2, previous, 39_500)).toEqual(
      previous,
    );
  });
});
