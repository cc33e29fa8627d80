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

const PORTS = [9_002, 9_001];

describe('the ports nginx shall know (R-004)', () => {
  test('are_the_configured_ones_in_order_also_while_their_workers_are_not_there_yet', () => {
    expect(workerPorts(PORTS, roster({ port: 9_001 }), NOW)).toEqual(PORTS);
    const replaced = roster(
      { port: 9_002 },
      { port: 9_001, state: 'starting' },
      { port: 9_001, state: 'leaving' },
    );
    expect(workerPorts(PORTS, replaced, NOW)).toEqual(PORTS);
  });

  test('do_not_change_while_a_dead_worker_may_come_back', () => {
    const one = roster({ port: 9_001 }, { port: 9_002, state: 'exited', sinceMs: NOW - 59_000 });
    expect(workerPorts(PORTS, one, NOW)).toEqual(PORTS);
    expect(workerPorts(PORTS, one, NOW + 2_000)).toEqual([9_001]);
  });

  test('a_port_is_kept_for_the_worker_that_follows_a_dead_one', () => {
    const dead = { port: 9_002, state: 'exited', sinceMs: 0 } as const;
    expect(workerPorts(PORTS, roster(dead, { port: 9_002, state: 'starting' }), NOW)).toEqual(PORTS);
  });

  test('stay_as_they_are_when_nobody_knows_better', () => {
    expect(workerPorts(PORTS, null, NOW)).toBeNull();
    const dead = roster(
      { port: 9_001, state: 'exited', sinceMs: 0 },
      { port: 9_002, state: 'exited', sinceMs: 0 },
    );
    expect(workerPorts(PORTS, dead, NOW)).toBeNull();
  });
});
