import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPageSlots } from './page-slots.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('slots of an engine (law L10)', () => {
  test('any_interleaving_of_take_give_and_abort_keeps_within_the_width_and_ends_with_none_left', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('give' as const), which: fc.nat(9) }),
      fc.record({ do: fc.constant('abort' as const), which: fc.nat(9) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 40 }),
        async (width, steps) => {
          const slots = createPageSlots(width);
          const held: (() => void)[] = [];
          const takers: AbortController[] = [];
          for (const one of steps) {
            if (one.do === 'take') {
              const taker = new AbortController();
              takers.push(taker);
              slots.take(taker.signal).then(
                (release) => held.push(release),
                () => undefined,
              );
            } else if (one.do === 'give') held.splice(one.which % Math.max(1, held.length), 1)[0]?.();
            else takers[one.which % Math.max(1, takers.length)]?.abort();
            await tick();
            if (held.length > width || slots.free() !== width - held.length) return false;
          }
          for (const taker of takers) taker.abort();
          for (const release of held) release();
          await slots.idle();
          return slots.free() === width;
        },
      ),
      { numRuns: 60 },
    );
  });

  test('who_waits_first_goes_first', async () => {
    const slots = createPageSlots(1);
    const signal = new AbortController().signal;
    const order: number[] = [];
    const release = await slots.take(signal);
    const waiting = [1, 2, 3].map(async (who) => {
      const give = await slots.take(signal);
      order.push(who);
      give();
    });
    release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  test('a_slot_given_back_twice_counts_once', async () => {
    const slots = createPageSlots(2);
    const release = await slots.take(new AbortController().signal);
    release();
    release();
    expect(slots.free()).toBe(2);
  });
});
