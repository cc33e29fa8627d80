import type { Roster, RosterWorker } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { workerPorts } from './worker-addresses.ts';

const NOW = 1_000_000;

function roster(...workers: Partial<RosterWorker>[]): Roster {
  const base = { bootId: 'b', worker: 0, pid: 1, port: 9_000, state: 'listening', sinceMs: NOW } as const;
  return {
    v: 1,
    group: 'workers',
    primaryId: 'p',
    seq: 1,
    atMs: NOW,
    workers: workers.map((worker) => ({ ...base, ...worker })),
  };
}

describe('the ports nginx shall know (R-004)', () => {
  test('are_those_of_the_living_workers_each_once_and_sorted', () => {
    const two = roster(
      { port: 9_002 },
      { port: 9_001, state: 'starting' },
      { port: 9_001, state: 'leaving' },
    );
    expect(workerPorts(two, NOW)).toEqual([9_001, 9_002]);
  });

  test('do_not_change_while_a_dead_worker_may_come_back', () => {
    const one = roster({ port: 9_001 }, { port: 9_002, state: 'exited', sinceMs: NOW - 59_000 });
    expect(workerPorts(one, NOW)).toEqual([9_001, 9_002]);
    expect(workerPorts(one, NOW + 2_000)).toEqual([9_001]);
  });

  test('stay_as_they_are_when_nobody_knows_better', () => {
    expect(workerPorts(null, NOW)).toBeNull();
    expect(workerPorts(roster({ state: 'exited', sinceMs: 0 }), NOW)).toBeNull();
  });
});
