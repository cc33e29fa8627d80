import type { Config, Report, Roster, Slice } from '@pagefleet/contract';
import type { Bus } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { createMemoryBucket } from '../test-kit/memory-bucket.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import { EpochSlices } from './epoch-slices.ts';

const opened: EpochSlices[] = [];
afterEach(() => {
  for (const slices of opened.splice(0)) slices.close();
});

function slice(bootId: string): Slice {
  const limits = { maxInFlight: 1, maxQueued: 1, maxMemoryBytes: 1, maxSpoolBytes: 1 };
  return { v: 1, bootId, epoch: 1, rev: 1, pods: [], pools: [], limits };
}

/** A bus in memory with one subscriber to a subject at a time, as a keeper is. */
function setUp(workers = 1) {
  const bucket = createMemoryBucket<Slice>();
  const listeners = new Map<string, Set<(key: string, message: never) => void>>();
  const bus = {
    bucket: () => bucket,
    subscribe(subject: string, listener: (key: string, message: never) => void) {
      const all = listeners.get(subject) ?? new Set();
      listeners.set(subject, all.add(listener));
      return () => all.delete(listener);
    },
  } as unknown as Bus;
  const guard = { held: 0, canOutbid: true };
  const events: string[] = [];
  const slices = new EpochSlices({
    bus,
    config: { workers, pools: [], limits: { maxInFlight: 8, maxQueued: 8 } } as unknown as Config,
    guard: {
      epoch: () => guard.held,
      outbid: async (seen) => {
        if (guard.canOutbid) guard.held = seen + 1;
        return guard.canOutbid;
      },
    },
    registry: () => new Map(),
    tokenOf: () => null,
    isClosing: () => false,
    suspendedUntilMs: () => 0,
    fleetOnly: () => [],
    nowMs: Date.now,
    logger: quietLogger().logger,
    onOpened: () => void events.push(`opened ${guard.held}`),
  });
  opened.push(slices);
  const publish = (subject: 'roster' | 'report', key: string, message: Roster | Report) => {
    for (const listener of listeners.get(subject) ?? []) listener(key, message as never);
  };
  let seq = 0;
  const roster = (group: string, states: Record<string, 'listening' | 'exited'>) => {
    seq += 1;
    const listed = Object.entries(states).map(([bootId, state], worker) => ({
      bootId,
      worker,
      state,
      pid: 1,
      port: 1,
    }));
    publish('roster', group, {
      v: 1,
      group,
      primaryId: group,
      seq,
      atMs: 0,
      workers: listed,
    } as unknown as Roster);
  };
  const report = (bootId: string, epoch: number) =>
    publish('report', bootId, {
      bootId,
      epoch,
      seq: 1,
      ack: 0,
      held: {},
      pods: {},
      pools: {},
    } as unknown as Report);
  return {
    bucket,
    guard,
    events,
    slices,
    roster,
    report,
    recordOf: (bootId: string) => bucket.records.get(bootId)?.value,
  };
}

describe('the slices of the epoch that is held', () => {
  test('nothing_is_told_before_one_is_held_or_after_the_end', async () => {
    const { slices, guard, events, roster, recordOf } = setUp();
    slices.open();
    roster('workers', { w1: 'listening' });
    expect(events).toEqual([]);
    slices.close();
    guard.held = 1;
    slices.open();
    expect(events).toEqual([]);
    expect(recordOf('w1')).toBeUndefined();
  });

  test('a_worker_that_saw_a_higher_epoch_is_told_anew_in_one_that_is_higher_still', async () => {
    const { slices, guard, events, roster, report, recordOf } = setUp();
    guard.held = 1;
    slices.open();
    roster('workers', { w1: 'listening' });
    report('w1', 0);
    await expect.poll(() => recordOf('w1')?.epoch).toBe(1);
    report('w1', 7);
    await expect.poll(() => events).toEqual(['opened 1', 'opened 8']);
    roster('workers', { w1: 'listening' });
    report('w1', 7);
    await expect.poll(() => recordOf('w1')?.epoch).toBe(8);
  });
});

describe('the sweep of slice records', () => {
  test('the_record_of_a_worker_whose_exit_is_proven_goes_and_that_of_a_living_one_stays', async () => {
    const { slices, guard, roster, report, recordOf } = setUp();
    guard.held = 1;
    slices.open();
    roster('workers', { w1: 'listening', w2: 'listening' });
    report('w1', 0);
    report('w2', 0);
    await expect.poll(() => [recordOf('w1'), recordOf('w2')].every(Boolean)).toBe(true);
    roster('workers', { w1: 'exited', w2: 'listening' });
    await expect.poll(() => recordOf('w1')).toBeUndefined();
    expect(recordOf('w2')).toBeDefined();
  });

  test('a_record_that_nobody_knows_is_left_until_every_group_was_heard', async () => {
    const { slices, guard, roster, report, bucket, recordOf } = setUp();
    bucket.writeBehindOurBack('of-an-earlier-life', slice('of-an-earlier-life'));
    guard.held = 2;
    slices.open();
    roster('workers', { w1: 'listening' });
    report('w1', 0);
    await expect.poll(() => recordOf('w1')).toBeDefined();
    expect(recordOf('of-an-earlier-life')).toBeDefined();
    roster('backup', {});
    await expect.poll(() => recordOf('of-an-earlier-life')).toBeUndefined();
    expect(recordOf('w1')).toBeDefined();
  });
});
