import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@pagefleet/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideForgotten, forgetEndedPods } from './forget-ended-pods.ts';

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

describe('what a killed renter leaves half made', () => {
  it('is_swept_once_no_renter_can_be_at_it_and_nothing_else_is', async () => {
    const account = mkdtempSync(join(tmpdir(), 'pf-account-'));
    const nowMs = Date.now();
    const make = (name: string, ageMs: number): void => {
      mkdirSync(join(account, name));
      utimesSync(join(account, name), new Date(), new Date(nowMs - ageMs));
    };
    make('.new-local-00000001', 11 * 60_000);
    make('.old-local-00000002-aaaa', 11 * 60_000);
    make('.new-local-00000003', 9 * 60_000);
    make('local-00000004', DAY_MS);
    const logger = createLogger({
      component: 'test',
      level: 'fatal',
      destination: { write: () => undefined },
    });
    await forgetEndedPods(account, [], { nowMs, logger });
    expect(readdirSync(account).sort()).toEqual(['.new-local-00000003', 'local-00000004']);
    rmSync(account, { recursive: true });
  });
});
