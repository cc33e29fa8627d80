import type { Report, Roster, RosterWorker } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { WorkerBook } from './worker-book.ts';

const T0 = 1_000_000;

function roster(seq: number, workers: Partial<RosterWorker>[], primaryId = 'p1'): Roster {
  const base = { bootId: 'a', worker: 0, pid: 1, port: 9_000, state: 'listening', sinceMs: T0 } as const;
  return {
    v: 1,
    group: 'workers',
    primaryId,
    seq,
    atMs: T0,
    workers: workers.map((one) => ({ ...base, ...one })),
  };
}

function report(seq: number): Report {
  return { bootId: 'a', seq } as Report;
}

describe('the book of workers', () => {
  test('an_older_report_never_replaces_a_newer_one', () => {
    const book = new WorkerBook();
    expect(book.takeReport(report(5), T0)).toBe(true);
    expect(book.takeReport(report(4), T0 + 1)).toBe(false);
    expect(book.reportOf('a')?.report.seq).toBe(5);
  });

  test('a_worker_that_a_new_primary_does_not_name_still_counts', () => {
    const book = new WorkerBook();
    book.takeRoster(roster(9, [{ bootId: 'a' }]));
    book.takeRoster(roster(1, [{ bootId: 'b' }], 'p2'));
    expect(book.alive().sort()).toEqual(['a', 'b']);
    expect(book.unlisted().map((worker) => worker.bootId)).toEqual(['a']);
  });

  test('an_exit_is_final_whatever_a_late_message_says', () => {
    const book = new WorkerBook();
    book.takeRoster(roster(1, [{ state: 'exited' }]));
    book.takeRoster(roster(1, [{ state: 'listening' }], 'p2'));
    expect(book.alive()).toEqual([]);
  });

  test('only_a_change_of_state_is_a_change', () => {
    const book = new WorkerBook();
    expect(book.takeRoster(roster(1, [{}]))).toBe(true);
    expect(book.takeRoster(roster(2, [{}]))).toBe(false);
    expect(book.takeRoster(roster(3, [{ state: 'leaving' }]))).toBe(true);
    expect(book.takeRoster(roster(2, [{ state: 'listening' }]))).toBe(false);
  });

  test('exits_are_forgotten_when_their_proof_is_old_and_the_living_never', () => {
    const book = new WorkerBook();
    book.takeRoster(roster(1, [{ bootId: 'a', state: 'exited' }, { bootId: 'b' }]));
    book.sweep(T0 + 599_000);
    expect(book.workers()).toHaveLength(2);
    book.sweep(T0 + 601_000);
    expect(book.workers().map((worker) => worker.bootId)).toEqual(['b']);
  });
});
