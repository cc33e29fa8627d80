import type { EpochRecord } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { realClock } from './clock.ts';
import { checkEpoch, raiseEpoch } from './epoch.ts';
import { createEpochGuard } from './epoch-guard.ts';
import { createMemoryBucket, type MemoryBucket } from './test-kit/memory-bucket.ts';
import { quietLogger } from './test-kit/quiet-logger.ts';

const nowMs = () => 1;

function as(controllerId: string, bucket: MemoryBucket<EpochRecord>) {
  return { bucket, controllerId, nowMs };
}

describe('the epoch', () => {
  test('rises_above_journal_and_bus', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    expect(await raiseEpoch(as('a', bucket), 4)).toBe(5);
    expect(await raiseEpoch(as('b', bucket), 0)).toBe(6);
    expect(await raiseEpoch(as('c', bucket), 20)).toBe(21);
  });

  test('is_never_held_by_two', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const epochs = await Promise.all(ids.map((id) => raiseEpoch(as(id, bucket), 0)));
    expect(new Set(epochs).size).toBe(ids.length);
  });

  test('a_put_whose_answer_was_lost_is_recognised_as_ours', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    bucket.failNext('lost');
    expect(await raiseEpoch(as('a', bucket), 0)).toBe(1);
    expect(bucket.records.get('epoch')?.value.epoch).toBe(1);
  });

  test('a_newer_controller_deposes_an_older_one_also_with_the_same_number', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    const mine = as('a', bucket);
    await raiseEpoch(mine, 0);
    expect(await checkEpoch(mine, 1)).toBe('mine');
    bucket.writeBehindOurBack('epoch', { v: 1, epoch: 1, controllerId: 'b', atMs: 0 });
    expect(await checkEpoch(mine, 1)).toBe('deposed');
  });

  test('a_bus_that_is_away_makes_it_unknown_and_one_that_forgot_gets_it_again', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    const mine = as('a', bucket);
    await raiseEpoch(mine, 0);
    bucket.goAway();
    expect(await checkEpoch(mine, 1)).toBe('unknown');
    bucket.back();
    bucket.wipe();
    expect(await checkEpoch(mine, 1)).toBe('mine');
    expect(bucket.records.get('epoch')?.value).toMatchObject({ epoch: 1, controllerId: 'a' });
  });
});

describe('who is in charge', () => {
  function guard(bucket: MemoryBucket<EpochRecord>) {
    const recorded: number[] = [];
    const deposed: string[] = [];
    const one = createEpochGuard({
      bucket,
      controllerId: 'a',
      clock: realClock,
      logger: quietLogger().logger,
      journalEpoch: () => Math.max(0, ...recorded),
      record: async (epoch) => {
        recorded.push(epoch);
        return true;
      },
      onDeposed: () => deposed.push('deposed'),
    });
    return { one, recorded, deposed };
  }

  test('nobody_before_an_epoch_is_held', async () => {
    const { one } = guard(createMemoryBucket());
    expect(one.epoch()).toBe(0);
    expect(await one.check()).toBe('unknown');
  });

  test('a_deposed_controller_hears_of_it_by_itself_once', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    const { one, deposed, recorded } = guard(bucket);
    await one.start();
    expect(recorded).toEqual([1]);
    bucket.writeBehindOurBack('epoch', { v: 1, epoch: 2, controllerId: 'b', atMs: 0 });
    expect(await one.check()).toBe('deposed');
    expect(deposed).toEqual(['deposed']);
  });

  test('it_outbids_what_workers_saw_in_a_life_that_journal_and_bus_forgot', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    const { one, recorded } = guard(bucket);
    await one.start();
    expect(await one.outbid(7)).toBe(true);
    expect(one.epoch()).toBe(8);
    expect(recorded).toEqual([1, 8]);
    expect(await one.check()).toBe('mine');
  });

  test('while_nobody_can_say_who_is_in_charge_it_takes_no_new_number', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    const { one, recorded } = guard(bucket);
    await one.start();
    bucket.goAway();
    expect(await one.outbid(7)).toBe(false);
    expect(recorded).toEqual([1]);
  });

  test('it_does_not_outbid_a_controller_that_is_there', async () => {
    const bucket = createMemoryBucket<EpochRecord>();
    const { one, deposed } = guard(bucket);
    await one.start();
    bucket.writeBehindOurBack('epoch', { v: 1, epoch: 7, controllerId: 'b', atMs: 0 });
    expect(await one.outbid(7)).toBe(false);
    expect(deposed).toEqual(['deposed']);
    expect(bucket.records.get('epoch')?.value.controllerId).toBe('b');
  });
});
