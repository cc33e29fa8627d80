import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideForgotten } from './forget-ended-pods.ts';

const DAY_MS = 24 * 3_600_000;

describe('folders of ended pods', () => {
  it('the_fifty_that_ended_last_are_kept_and_the_rest_is_forgotten', () => {
    const ended = Array.from({ length: 53 }, (_, n) => ({ id: `pod-${n}`, endedAtMs: 1_000 + n }));
    expect(decideForgotten(ended, 2_000)).toEqual(['pod-2', 'pod-1', 'pod-0']);
  });

  it('a_pod_that_ended_more_than_a_week_ago_is_forgotten', () => {
    const ended = [
      { id: 'week', endedAtMs: 0 },
      { id: 'older', endedAtMs: -1 },
    ];
    expect(decideForgotten(ended, 7 * DAY_MS)).toEqual(['older']);
  });

  it('at_most_fifty_are_ever_kept_and_none_of_them_is_older_than_a_week', () => {
    const pods = fc.array(fc.integer({ min: 0, max: 20 * DAY_MS }), { maxLength: 120 });
    fc.assert(
      fc.property(pods, (ages) => {
        const nowMs = 30 * DAY_MS;
        const ended = ages.map((ageMs, n) => ({ id: `pod-${n}`, endedAtMs: nowMs - ageMs }));
        const forgotten = new Set(decideForgotten(ended, nowMs));
        const kept = ended.filter((pod) => !forgotten.has(pod.id));
        expect(kept.length).toBe(Math.min(50, ages.filter((ageMs) => ageMs <= 7 * DAY_MS).length));
        for (const pod of kept) expect(nowMs - pod.endedAtMs).toBeLessThanOrEqual(7 * DAY_MS);
      }),
    );
  });
});
