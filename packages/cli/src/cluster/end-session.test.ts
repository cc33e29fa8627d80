import { spawn } from 'node:child_process';
import { observeProcess, type ProcessIdentity } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { type Asked, decideAsks } from './decide-asks.ts';
import { endSession } from './end-session.ts';
import type { MemberKind, SessionMember } from './session.ts';

// DESIGN 3, Stopping: the end comes also where a signal was lost or is ignored.

const SUPERVISORD = 10;
const member = (kind: MemberKind, pid: number, parentPid = SUPERVISORD): SessionMember => ({
  identity: { pid, startTicks: pid, bootId: 'boot' },
  name: kind,
  kind,
  parentPid,
});
const leader = member('supervisord', SUPERVISORD, 1);
const askedAt = (firstMs: number, pids: number[], lastMs = firstMs): Asked =>
  new Map(pids.map((pid) => [pid, { firstMs, lastMs }]));
const pidsOf = (members: readonly SessionMember[]) => members.map(({ identity }) => identity.pid);

describe('whom to ask to end', () => {
  const all = [
    leader,
    member('nats', 11),
    member('controller', 12),
    member('worker', 13),
    member('nginx', 14),
  ];

  test('supervisord_has_the_first_round_to_itself_and_then_the_door_is_asked_first', () => {
    expect(pidsOf(decideAsks(all, new Map(), 0).ask)).toEqual([SUPERVISORD]);
    expect(pidsOf(decideAsks(all, askedAt(0, [SUPERVISORD]), 1_900).ask)).toEqual([]);
    expect(pidsOf(decideAsks(all, askedAt(0, [SUPERVISORD]), 2_000).ask)).toEqual([SUPERVISORD, 14]);
    expect(pidsOf(decideAsks(all.slice(0, 4), askedAt(0, [SUPERVISORD], 2_000), 2_100).ask)).toEqual([13]);
  });

  test('a_child_of_one_of_ours_is_its_parents_business', () => {
    const orphans = [member('worker', 13, 1), member('worker', 20, 13)];
    expect(pidsOf(decideAsks(orphans, new Map(), 0).ask)).toEqual([13]);
    expect(pidsOf(decideAsks([member('worker', 20, 1)], new Map(), 0).ask)).toEqual([20]);
  });

  test('what_holds_no_pages_is_killed_after_its_patience_and_what_may_hold_some_is_not', () => {
    const late = askedAt(0, [SUPERVISORD, 11, 12, 13, 14], 19_000);
    expect(pidsOf(decideAsks(all, late, 20_000).kill)).toEqual([11]);
    expect(pidsOf(decideAsks(all, late, 19_900).kill)).toEqual([]);
    const withoutWorkers = all.filter(({ kind }) => kind !== 'worker');
    expect(pidsOf(decideAsks(withoutWorkers, late, 20_000).kill)).toEqual([11, 12, 14]);
    expect(pidsOf(decideAsks([leader], late, 20_000).kill)).toEqual([SUPERVISORD]);
  });

  test('a_door_that_does_not_end_holds_up_nobody_for_longer_than_its_patience', () => {
    expect(pidsOf(decideAsks(all, askedAt(0, [SUPERVISORD, 14], 19_900), 20_000).ask)).toEqual([13]);
  });
});

describe('the end of a session', () => {
  const leaders: ProcessIdentity[] = [];
  afterEach(() => {
    for (const { pid } of leaders.splice(0)) {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // ended already
      }
    }
  });

  test('a_child_that_lost_the_first_signal_is_asked_again', async () => {
    // The leader ends only with its child, as supervisord does; it passes no signal on, as if that one had been lost.
    const child = spawn('/bin/sh', ['-c', 'trap : TERM; sleep 60 & echo on; until wait; do :; done'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const identity = await observeProcess(child.pid ?? 0);
    if (!identity) throw new Error('the shell is gone');
    leaders.push(identity);
    const said: string[] = [];
    const startMs = performance.now();
    // `wait` without a pid answers 0 once the child is gone, and above 128 for the trapped signal.
    expect(await endSession(identity, { patienceMs: 10_000, say: (line) => said.push(line) })).toEqual([]);
    expect(performance.now() - startMs).toBeLessThan(8_000);
    expect(said).toEqual([]);
  }, 20_000);
});
