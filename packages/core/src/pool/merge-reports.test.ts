import type { Report } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeReports, type ReceivedReport } from './merge-reports.ts';

const NOW = 100_000;

function received(bootId: string, change: Partial<Report> = {}, ageMs = 100): ReceivedReport {
  const totals = { pagesOk: 0, pagesFailed: 0, pagesRefused: 0, pagesRetried: 0 };
  const box = { bytesInMemory: 0, bytesSpooled: 0, loopDelayP99Ms: 0, rssBytes: 0 };
  const facts = { bootId, worker: 0, epoch: 3, ack: 1, seq: 1, atMs: NOW, held: {}, pods: {}, pools: {} };
  return { report: { v: 1, ...facts, totals: { ...totals, ...box }, ...change }, receivedAtMs: NOW - ageMs };
}

function pod(inflight: number, lastGoodMs = 0): Report['pods'][string] {
  return { inflight, used: 1, good: 1, lastGoodMs, oldestSlotMs: inflight, pagesPerSecond: 0.5 };
}

function demand(inflight: number, waiting: number): Report['pools'] {
  return { ocr: { inflight, waiting, unsplit: 1, refused: 2, oldestWaitMs: waiting } };
}

function merge(reports: ReceivedReport[], alive = ['a', 'b']) {
  return mergeReports(reports, { nowMs: NOW, epoch: 3, alive });
}

describe('R-005: merged reports', () => {
  test('add_up_what_all_workers_have_on_a_pod_and_in_a_pool', () => {
    const merged = merge([
      received('a', { pods: { p: pod(3, 50) }, held: { p: 4 }, pools: demand(3, 5) }),
      received('b', { pods: { p: pod(2, 70) }, held: { p: 2 }, pools: demand(2, 9) }),
    ]);
    expect(merged.pods.get('p')).toMatchObject({
      inflight: 5,
      heldWidth: 6,
      lastGoodMs: 70,
      oldestSlotMs: 3,
      pagesPerSecond: 1,
    });
    expect(merged.pools.get('ocr')).toEqual({
      inflight: 5,
      waiting: 14,
      unsplit: 2,
      refused: 4,
      oldestWaitMs: 9,
    });
    expect(merged.complete).toBe(true);
  });

  test('name_the_worker_of_every_suspicion', () => {
    const suspect = { n: 4, kind: 'refusing', code: 'pod_refused', atMs: NOW } as const;
    const merged = merge([received('a', { pods: { p: { ...pod(0), suspect } } }), received('b')]);
    expect(merged.pods.get('p')?.suspects).toEqual([{ ...suspect, bootId: 'a' }]);
  });

  test('of_a_worker_silent_for_2_seconds_keep_its_pages_and_drop_its_queue', () => {
    const silent = received('a', { pods: { p: pod(3) }, pools: demand(3, 5) }, 2_001);
    const merged = merge([silent, received('b')]);
    expect(merged).toMatchObject({ fresh: ['b'], stale: ['a'], complete: false });
    expect(merged.pods.get('p')?.inflight).toBe(3);
    expect(merged.pools.get('ocr')).toMatchObject({ inflight: 3, waiting: 0, unsplit: 0, refused: 0 });
  });

  test('are_not_complete_while_a_living_worker_was_never_heard', () => {
    expect(merge([received('a')]).complete).toBe(false);
    expect(merge([], []).complete).toBe(false);
  });

  test('leave_out_another_epoch_and_an_exited_worker', () => {
    const merged = merge([
      received('a', { epoch: 2, pods: { p: pod(3) } }),
      received('b'),
      received('x', { pods: { q: pod(1) } }),
    ]);
    expect(merged.pods.size).toBe(0);
    expect(merged.stale).toEqual(['a']);
  });

  test('count_the_newest_of_a_worker_only_in_whatever_order_they_came', () => {
    const reports = [1, 2, 3].map((seq) => received('a', { seq, pods: { p: pod(seq) } }));
    fc.assert(
      fc.property(fc.shuffledSubarray(reports, { minLength: 3 }), (shuffled) => {
        expect(merge(shuffled, ['a']).pods.get('p')?.inflight).toBe(3);
      }),
    );
  });
});
