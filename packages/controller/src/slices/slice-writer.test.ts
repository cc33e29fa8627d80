import type { Slice } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMemoryBucket } from '../test-kit/memory-bucket.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import { SliceWriter } from './slice-writer.ts';

function slice(rev: number, epoch = 1): Slice {
  const limits = { maxInFlight: 1, maxQueued: 1, maxMemoryBytes: 1, maxSpoolBytes: 1 };
  return { v: 1, bootId: 'w', epoch, rev, pods: [], pools: [], limits };
}

function setUp() {
  const bucket = createMemoryBucket<Slice>();
  const lost: string[] = [];
  const superseded: number[] = [];
  const { logger } = quietLogger();
  const open = () =>
    new SliceWriter({
      bucket,
      logger,
      onLost: (bootId) => lost.push(bootId),
      onSuperseded: (epoch) => superseded.push(epoch),
    });
  const inForce = () => bucket.records.get('w')?.value;
  return { bucket, lost, superseded, open, inForce };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('writing slices', () => {
  test('the_newest_of_many_puts_is_in_force_in_the_end', async () => {
    const { open, inForce, lost } = setUp();
    const writer = open();
    for (let rev = 1; rev <= 50; rev += 1) writer.put(slice(rev));
    await settle();
    expect(inForce()?.rev).toBe(50);
    expect(lost).toEqual([]);
  });

  test('a_put_whose_answer_was_lost_is_followed_by_the_next_one', async () => {
    const { bucket, open, inForce } = setUp();
    const writer = open();
    bucket.failNext('lost');
    writer.put(slice(1));
    await settle();
    writer.put(slice(2));
    await settle();
    expect(inForce()?.rev).toBe(2);
  });

  test('a_record_of_an_earlier_epoch_is_overwritten_whatever_its_revision', async () => {
    const { bucket, open, inForce } = setUp();
    bucket.writeBehindOurBack('w', slice(900, 1));
    open().put(slice(1, 2));
    await settle();
    expect(inForce()).toMatchObject({ epoch: 2, rev: 1 });
  });

  test('a_record_of_a_later_epoch_is_left_alone_and_told', async () => {
    const { bucket, open, inForce, superseded } = setUp();
    const writer = open();
    bucket.records.set('w', { value: slice(1, 9), revision: 77 });
    writer.put(slice(5, 2));
    await settle();
    expect(inForce()).toMatchObject({ epoch: 9, rev: 1 });
    expect(superseded).toEqual([9]);
  });

  test('a_slice_that_cannot_be_put_or_that_the_bucket_forgot_is_asked_for_again', async () => {
    const { bucket, open, lost } = setUp();
    const writer = open();
    bucket.goAway();
    writer.put(slice(1));
    await settle();
    expect(lost).toEqual(['w']);
    bucket.back();
    writer.put(slice(2));
    await settle();
    bucket.wipe();
    expect(lost).toEqual(['w', 'w']);
  });

  test('whatever_gets_lost_the_record_never_goes_backwards (property)', async () => {
    const step = fc.constantFrom('put', 'lost', 'never', 'away', 'back', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { bucket, open, inForce } = setUp();
        const writer = open();
        let rev = 0;
        let highest = 0;
        for (const one of [...steps, 'back', 'put', 'wait'] as const) {
          if (one === 'put') writer.put(slice(++rev));
          else if (one === 'away') bucket.goAway();
          else if (one === 'back') bucket.back();
          else if (one === 'wait') await new Promise((resolve) => setImmediate(resolve));
          else bucket.failNext(one);
          const seen = inForce()?.rev ?? 0;
          if (seen < highest) return false;
          highest = seen;
        }
        await settle();
        writer.put(slice(++rev));
        await settle();
        return inForce()?.rev === rev;
      }),
      { numRuns: 60 },
    );
  });
});
