import { chmodSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EpochRecord, Report, Roster } from '@pagefleet/contract';
import { type Bus, connectBus, createLogger, type Logger, monotonicMs } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startNats, type TestNats } from '../nats-server.ts';

const lines: string[] = [];
const logger: Logger = createLogger({
  component: 'test',
  level: 'debug',
  destination: { write: (line) => lines.push(line) },
});
let nats: TestNats;
const buses: Bus[] = [];

beforeEach(async () => {
  lines.length = 0;
  nats = await startNats();
});
afterEach(async () => {
  for (const bus of buses.splice(0)) await bus.close();
  await nats.stop();
});

async function join(name = 'test'): Promise<Bus> {
  const bus = await connectBus({ url: nats.url, credentialsFile: nats.credentialsFile, name, logger });
  buses.push(bus);
  return bus;
}

async function joined(name?: string): Promise<Bus> {
  const bus = await join(name);
  await until(() => bus.connected());
  return bus;
}

/** Waits for something that must come; the test's own timeout says that it did not. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

const roster = (seq: number): Roster => ({
  v: 1,
  group: 'workers',
  primaryId: 'p',
  seq,
  atMs: 1,
  workers: [],
});
const epoch = (n: number): EpochRecord => ({ v: 1, epoch: n, controllerId: 'c', atMs: n });

describe('connecting', () => {
  it('resolves_although_the_server_is_away_and_connects_when_it_comes', async () => {
    await nats.kill('SIGKILL');
    const startedMs = monotonicMs();
    const bus = await join();
    expect(monotonicMs() - startedMs).toBeLessThan(2_000);
    expect(bus.connected()).toBe(false);
    const states: boolean[] = [];
    bus.onState((up) => states.push(up));
    await nats.restart();
    await until(() => bus.connected());
    expect(states).toEqual([true]);
  });

  it('closing_before_the_server_ever_came_ends_at_once', async () => {
    await nats.kill('SIGKILL');
    const bus = await join();
    await sleep(100);
    const startedMs = monotonicMs();
    await bus.close();
    expect(monotonicMs() - startedMs).toBeLessThan(3_000);
  });

  it('closing_while_it_dials_ends_too', async () => {
    const bus = await join();
    await bus.close();
    await sleep(300);
    expect(bus.connected()).toBe(false);
  });

  it('a_listener_that_throws_does_not_end_the_connection', async () => {
    const bus = await joined();
    const states: boolean[] = [];
    bus.onState(() => {
      throw new Error('bug');
    });
    bus.onState((up) => states.push(up));
    await nats.restart();
    await until(() => states.length === 2 && bus.connected());
    expect(states).toEqual([false, true]);
  });

  it('wrong_credentials_are_tried_again_until_the_file_is_right', async () => {
    const right = JSON.stringify({ user: 'test', pass: 'test-pass' });
    writeFileSync(nats.credentialsFile, JSON.stringify({ user: 'test', pass: 'wrong' }));
    const bus = await join();
    await sleep(600);
    expect(bus.connected()).toBe(false);
    writeFileSync(nats.credentialsFile, right);
    await until(() => bus.connected());
    expect(lines.join('')).not.toContain('test-pass');
  });

  it('credentials_that_others_may_read_are_refused', async () => {
    chmodSync(nats.credentialsFile, 0o640);
    await expect(join()).rejects.toThrow('chmod 600');
  });

  it('a_server_that_hangs_is_noticed_by_the_missing_pongs', async () => {
    const bus = await joined();
    await nats.kill('SIGSTOP');
    await until(() => !bus.connected());
    await nats.kill('SIGCONT');
    await until(() => bus.connected());
  });
});

describe('messages', () => {
  it('a_record_comes_with_its_key', async () => {
    const [sender, receiver] = [await joined('a'), await joined('b')];
    const got: [string, Roster][] = [];
    receiver.subscribe('roster', (key, record) => got.push([key, record]));
    await sleep(50);
    expect(sender.publish('roster', 'backup', roster(7))).toBe(true);
    await until(() => got.length > 0);
    expect(got).toEqual([['backup', roster(7)]]);
  });

  it('a_subscription_survives_a_killed_server_and_one_with_empty_state', async () => {
    const [sender, receiver] = [await joined('a'), await joined('b')];
    const got: number[] = [];
    receiver.subscribe('roster', (_key, record) => got.push(record.seq));
    for (const emptyState of [false, true]) {
      await nats.kill('SIGKILL');
      await until(() => !sender.connected() && !receiver.connected());
      await nats.restart({ emptyState });
      await until(() => sender.connected() && receiver.connected());
      await sleep(50);
      const before = got.length;
      sender.publish('roster', 'workers', roster(before + 1));
      await until(() => got.length > before);
    }
    expect(got).toEqual([1, 2]);
  });

  it('nothing_is_published_while_disconnected_not_even_later', async () => {
    const bus = await joined();
    const got: number[] = [];
    bus.subscribe('roster', (_key, record) => got.push(record.seq));
    await nats.kill('SIGKILL');
    await until(() => !bus.connected());
    const restarted = nats.restart();
    let seq = 0;
    // Up to the very moment of the connection, also while it is being made.
    while (!bus.connected()) {
      seq += 1;
      expect(bus.publish('roster', 'workers', roster(seq))).toBe(false);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await restarted;
    expect(seq).toBeGreaterThan(10);
    bus.publish('roster', 'workers', roster(seq + 1));
    await until(() => got.includes(seq + 1));
    await sleep(100);
    expect(got).toEqual([seq + 1]);
  });

  it('a_subscription_made_before_the_connection_works_after_it', async () => {
    await nats.kill('SIGKILL');
    const bus = await join();
    const got: number[] = [];
    bus.subscribe('roster', (_key, record) => got.push(record.seq));
    await nats.restart();
    await until(() => bus.connected());
    await sleep(50);
    bus.publish('roster', 'workers', roster(5));
    await until(() => got.length > 0);
    expect(got).toEqual([5]);
  });

  it('a_message_that_does_not_fit_is_dropped_with_a_log_line_and_the_next_one_comes', async () => {
    const [sender, receiver] = [await joined('a'), await joined('b')];
    const got: number[] = [];
    receiver.subscribe('roster', (_key, record) => got.push(record.seq));
    await sleep(50);
    await nats.send('pagefleet.roster.workers', 'not json');
    await nats.send('pagefleet.roster.workers', JSON.stringify({ ...roster(1), seq: -1 }));
    await nats.send(
      'pagefleet.roster.workers',
      JSON.stringify({ ...roster(2), newField: 'of a later version' }),
    );
    sender.publish('roster', 'workers', roster(3));
    await until(() => got.includes(3));
    expect(got).toEqual([2, 3]);
    expect(lines.filter((line) => line.includes('bus_record_dropped'))).toHaveLength(2);
  });

  it('a_wrong_record_is_an_error_of_the_sender_in_tests', async () => {
    const bus = await joined();
    const wrong = { ...roster(1), seq: -1 } as Roster;
    expect(() => bus.publish('roster', 'workers', wrong)).toThrow('A roster to send is wrong');
    expect(() => bus.publish('report', 'b', {} as Report)).toThrow('A report to send is wrong');
  });

  it('a_callback_that_throws_does_not_end_the_subscription', async () => {
    const bus = await joined();
    const got: number[] = [];
    bus.subscribe('roster', (_key, record) => {
      got.push(record.seq);
      if (record.seq === 1) throw new Error('bug');
    });
    await sleep(50);
    bus.publish('roster', 'workers', roster(1));
    bus.publish('roster', 'workers', roster(2));
    await until(() => got.length === 2);
  });

  it('after_unsubscribing_nothing_comes_also_after_a_reconnect', async () => {
    const bus = await joined();
    const got: number[] = [];
    const stop = bus.subscribe('roster', (_key, record) => got.push(record.seq));
    stop();
    await nats.restart();
    await until(() => bus.connected());
    bus.publish('roster', 'workers', roster(1));
    await sleep(200);
    expect(got).toEqual([]);
  });
});

describe('buckets', () => {
  it('of_two_writers_at_once_one_wins', async () => {
    const [a, b] = [await joined('a'), await joined('b')];
    const outcomes = await Promise.all([
      a.bucket('control').write('epoch', epoch(1), 0),
      b.bucket('control').write('epoch', epoch(2), 0),
    ]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['conflict', 'written']);
    const stored = await a.bucket('control').get('epoch');
    const winner = outcomes[0]?.kind === 'written' ? 1 : 2;
    expect(stored?.value.epoch).toBe(winner);
    const again = await b.bucket('control').write('epoch', epoch(3), stored?.revision ?? 0);
    expect(again.kind).toBe('written');
    expect((await a.bucket('control').write('epoch', epoch(4), stored?.revision ?? 0)).kind).toBe('conflict');
  });

  it('a_removed_key_is_absent_and_may_be_made_again', async () => {
    const bucket = (await joined()).bucket('control');
    expect(await bucket.get('epoch')).toBeNull();
    await bucket.write('epoch', epoch(1), 0);
    await bucket.write('other', epoch(1), 0);
    expect((await bucket.keys()).sort()).toEqual(['epoch', 'other']);
    await bucket.remove('epoch');
    await bucket.remove('never-there');
    expect(await bucket.get('epoch')).toBeNull();
    expect(await bucket.keys()).toEqual(['other']);
    expect((await bucket.write('epoch', epoch(2), 0)).kind).toBe('written');
  });

  it('what_was_written_is_there_after_a_kill_9', async () => {
    const bus = await joined();
    const bucket = bus.bucket('control');
    await bucket.write('epoch', epoch(5), 0);
    await nats.kill('SIGKILL');
    await until(() => !bus.connected());
    await nats.restart();
    await until(() => bus.connected());
    expect(await bucket.get('epoch')).toEqual({ value: epoch(5), revision: 1 });
  });

  it('a_server_that_lost_its_state_gets_the_bucket_anew', async () => {
    const bus = await joined();
    const bucket = bus.bucket('control');
    await bucket.write('epoch', epoch(5), 0);
    await nats.restart({ emptyState: true });
    await until(() => bus.connected());
    expect(await bucket.get('epoch')).toBeNull();
    expect((await bucket.write('epoch', epoch(6), 1)).kind).toBe('conflict');
    expect(await bucket.write('epoch', epoch(6), 0)).toEqual({ kind: 'written', revision: 1 });
  });

  it('while_disconnected_reading_fails_and_writing_is_unknown_both_at_once', async () => {
    const bus = await joined();
    await nats.kill('SIGKILL');
    await until(() => !bus.connected());
    const startedMs = monotonicMs();
    await expect(bus.bucket('control').get('epoch')).rejects.toMatchObject({ code: 'bus_unavailable' });
    await expect(bus.bucket('control').keys()).rejects.toMatchObject({ code: 'bus_unavailable' });
    await expect(bus.bucket('control').remove('epoch')).rejects.toMatchObject({ code: 'bus_unavailable' });
    expect((await bus.bucket('control').write('epoch', epoch(1), 0)).kind).toBe('unknown');
    expect(monotonicMs() - startedMs).toBeLessThan(2_000);
  });

  it('a_write_without_an_answer_is_unknown_within_5_s_and_may_have_happened', async () => {
    const bus = await joined();
    const bucket = bus.bucket('control');
    await bucket.write('epoch', epoch(1), 0);
    await nats.kill('SIGSTOP');
    const startedMs = monotonicMs();
    const outcome = await bucket.write('epoch', epoch(2), 1);
    expect(outcome).toMatchObject({ kind: 'unknown', cause: { code: 'bus_unavailable' } });
    expect(monotonicMs() - startedMs).toBeLessThan(8_000);
    await nats.kill('SIGCONT');
    await until(() => bus.connected());
    await sleep(200);
    expect((await bucket.get('epoch'))?.value).toEqual(epoch(2));
  });

  it('what_waits_for_an_answer_is_settled_the_moment_the_connection_goes', async () => {
    const bus = await joined();
    const bucket = bus.bucket('control');
    await bucket.write('epoch', epoch(1), 0);
    await nats.kill('SIGSTOP');
    const reading = bucket.get('epoch').catch((error: unknown) => error);
    const writing = bucket.write('epoch', epoch(2), 1);
    await sleep(100);
    const startedMs = monotonicMs();
    await nats.kill('SIGKILL');
    expect(await reading).toMatchObject({ code: 'bus_unavailable' });
    expect((await writing).kind).toBe('unknown');
    expect(monotonicMs() - startedMs).toBeLessThan(3_000);
  });

  it('a_key_with_a_wildcard_is_refused', async () => {
    const bucket = (await joined()).bucket('control');
    await expect(bucket.get('a.b')).rejects.toThrow('cannot be a key');
    await expect(bucket.write('>', epoch(1), 0)).rejects.toThrow('cannot be a key');
    expect(() => bucket.watch('a.*', () => {})).toThrow('cannot be a key');
  });
});
