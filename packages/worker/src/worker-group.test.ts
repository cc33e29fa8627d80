import { createLogger } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { MemberProcess } from './fork-member.ts';
import { createRosterBook } from './roster.ts';
import { WorkerGroup } from './worker-group.ts';
import type { FromWorker, ToWorker } from './worker-messages.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Fake {
  readonly bootId: string;
  readonly worker: number;
  readonly told: ToWorker['kind'][];
  say(message: FromWorker): void;
  exit(code: number | null): void;
  killed: boolean;
}

function groupOf(workers: number, answersPings = true, pidOf = (n: number) => 100 + n) {
  const forked: Fake[] = [];
  const portsTaken: number[] = [];
  const roster = createRosterBook({ group: 'workers', primaryId: 'p', nowMs: () => 0 });
  const group = new WorkerGroup({
    ports: Array.from({ length: workers }, (_, n) => 9_000 + n),
    roster,
    logger: createLogger({ component: 'test', level: 'silent' }),
    onChange: () => undefined,
    onPortTaken: (port) => portsTaken.push(port),
    onExit: () => undefined,
    fork(bootId, worker) {
      let say: (message: FromWorker) => void = () => undefined;
      let exit: (how: { code: number | null; signal: string | null }) => void = () => undefined;
      const fake: Fake = {
        bootId,
        worker,
        told: [],
        killed: false,
        say: (message) => say(message),
        exit: (code) => exit({ code, signal: null }),
      };
      forked.push(fake);
      const process: MemberProcess = {
        pid: pidOf(forked.length),
        send(message) {
          fake.told.push(message.kind);
          if (message.kind === 'ping' && answersPings) say({ kind: 'pong' });
        },
        onMessage: (take) => {
          say = take;
        },
        onExit: (take) => {
          exit = take;
        },
        kill() {
          fake.killed = true;
          exit({ code: null, signal: 'SIGKILL' });
        },
      };
      return process;
    },
  });
  const states = () => roster.snapshot().roster.workers.map(({ bootId, state }) => [bootId, state]);
  const at = (n: number): Fake => {
    const fake = forked[n];
    if (!fake) throw new Error(`worker ${n} was never forked`);
    return fake;
  };
  return { group, forked, at, states, portsTaken };
}

const tick = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

describe('the worker group', () => {
  test('an_old_worker_leaves_only_after_its_successor_listens_and_one_is_replaced_at_a_time', async () => {
    const { group, forked, at, states } = groupOf(2);
    group.start();
    for (const fake of forked) fake.say({ kind: 'listening' });
    void group.replaceAll();
    await tick();
    expect(forked).toHaveLength(3);
    expect(at(0).told).not.toContain('leave');
    at(2).say({ kind: 'listening' });
    await tick();
    expect(at(0).told).toContain('leave');
    expect(at(1).told).not.toContain('leave');
    expect(forked).toHaveLength(4);
    at(3).say({ kind: 'listening' });
    await tick();
    expect(at(1).told).toContain('leave');
    expect(states().map(([, state]) => state)).toEqual(['leaving', 'leaving', 'listening', 'listening']);
    at(0).exit(0);
    await tick(60_000);
    expect(forked).toHaveLength(4);
  });

  test('a_second_sighup_during_a_replacement_replaces_all_once_more', async () => {
    const { group, forked, at } = groupOf(1);
    group.start();
    at(0).say({ kind: 'listening' });
    void group.replaceAll();
    void group.replaceAll();
    void group.replaceAll();
    for (const n of [1, 2]) {
      await tick();
      at(n).say({ kind: 'listening' });
    }
    await tick();
    expect(forked).toHaveLength(3);
    expect(at(1).told).toContain('leave');
  });

  test('a_successor_that_never_listens_is_given_up_and_the_old_one_stays', async () => {
    const { group, at, states } = groupOf(1);
    group.start();
    at(0).say({ kind: 'listening' });
    void group.replaceAll();
    await tick(60_000);
    expect(at(1).killed).toBe(true);
    expect(at(0).told).not.toContain('leave');
    expect(states()).toEqual([
      [at(0).bootId, 'listening'],
      [at(1).bootId, 'exited'],
    ]);
  });

  test('a_worker_that_could_not_be_started_is_in_no_roster_and_is_tried_again (R-008)', async () => {
    const { group, forked, at, states } = groupOf(2, true, (n) => (n === 2 ? 0 : 100 + n));
    group.start();
    at(1).exit(null);
    expect(states()).toEqual([[at(0).bootId, 'starting']]);
    await tick(100);
    expect(forked).toHaveLength(3);
    expect(states()).toEqual([
      [at(0).bootId, 'starting'],
      [at(2).bootId, 'starting'],
    ]);
  });

  test('a_crashed_worker_comes_back_after_growing_pauses', async () => {
    const { group, forked, at } = groupOf(1);
    group.start();
    for (const [n, pauseMs] of [100, 200, 400].entries()) {
      at(n).exit(1);
      await tick(pauseMs - 1);
      expect(forked).toHaveLength(n + 1);
      await tick(1);
      expect(forked).toHaveLength(n + 2);
    }
    await tick(10_001);
    at(3).exit(1);
    await tick();
    expect(forked).toHaveLength(5);
  });

  test('a_worker_that_answers_no_ping_for_a_minute_is_ended_and_replaced', async () => {
    const { group, forked, at } = groupOf(1, false);
    group.start();
    at(0).say({ kind: 'listening' });
    await tick(59_000);
    expect(at(0).killed).toBe(false);
    await tick(7_000);
    expect(at(0).killed).toBe(true);
    await tick(1_000);
    expect(forked).toHaveLength(2);
  });

  test('a_worker_that_answers_lives_on', async () => {
    const { group, at } = groupOf(1);
    group.start();
    await tick(600_000);
    expect(at(0).killed).toBe(false);
  });

  test('stopping_tells_everyone_once_and_starts_nobody', async () => {
    const { group, forked, at } = groupOf(2);
    group.start();
    at(0).exit(1);
    const stopped = group.stop(1_000);
    at(1).exit(0);
    await stopped;
    await tick(30_000);
    expect(forked).toHaveLength(2);
    expect(at(1).told).toContain('leave');
  });

  test('a_taken_port_is_passed_on', () => {
    const { group, at, portsTaken } = groupOf(2);
    group.start();
    at(1).say({ kind: 'port_taken' });
    expect(portsTaken).toEqual([9_001]);
  });
});
