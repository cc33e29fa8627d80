import type { PagefleetError } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAdmission } from './admission.ts';
import type { Ticket } from './ticket.ts';

const never = new AbortController().signal;

function admissionOf(
  maxInFlight: number,
  maxQueued: number,
  refusalCode: 'queue_full' | 'no_capacity' = 'queue_full',
) {
  return createAdmission({
    limits: () => ({ maxInFlight, maxQueued }),
    inFlight: () => 0,
    pagesPerSecond: () => 0,
    refusalCode: () => refusalCode,
    closing: () => false,
  });
}

describe('admission (R-013, R-028, L11)', () => {
  test('the_page_beyond_the_limit_is_refused_with_all_the_figures', async () => {
    const admission = admissionOf(1, 2);
    for (let n = 0; n < 3; n += 1) await admission.admit({ holdMs: 0, signal: never });
    const refused: PagefleetError = await admission
      .admit({ holdMs: 0, signal: never })
      .then(Promise.reject, (e) => e);
    expect(refused.code).toBe('queue_full');
    expect(refused.details).toMatchObject({
      page_width: 1,
      queue_limit: 2,
      pages_in_flight: 0,
      pages_queued: 3,
    });
    expect(refused.details.retry_after_s).toBeGreaterThanOrEqual(8);
  });

  test('a_queue_limit_of_0_follows_the_limit_in_flight', async () => {
    const admission = admissionOf(2, 0);
    for (let n = 0; n < 4; n += 1) await admission.admit({ holdMs: 0, signal: never });
    await expect(admission.admit({ holdMs: 0, signal: never })).rejects.toMatchObject({ code: 'queue_full' });
    expect(admission.figures().queueLimit).toBe(2);
  });

  test('held_callers_enter_in_the_order_in_which_they_came', async () => {
    const admission = admissionOf(1, 1);
    const inside = [
      await admission.admit({ holdMs: 0, signal: never }),
      await admission.admit({ holdMs: 0, signal: never }),
    ];
    const order: number[] = [];
    const held = [0, 1].map(async (n) => {
      const ticket = await admission.admit({ holdMs: 5_000, signal: never });
      order.push(n);
      return ticket;
    });
    expect(admission.held()).toBe(2);
    for (const ticket of inside) ticket.close();
    const tickets = await Promise.all(held);
    expect(order).toEqual([0, 1]);
    for (const ticket of tickets) ticket.close();
    expect([admission.held(), admission.taken()]).toEqual([0, 0]);
  });

  test('a_held_caller_that_hangs_up_leaves_its_place', async () => {
    const admission = admissionOf(1, 1);
    const inside = [
      await admission.admit({ holdMs: 0, signal: never }),
      await admission.admit({ holdMs: 0, signal: never }),
    ];
    const gone = new AbortController();
    const held = admission.admit({ holdMs: 5_000, signal: gone.signal });
    gone.abort(new Error('gone'));
    await expect(held).rejects.toThrow('gone');
    for (const ticket of inside) ticket.close();
    expect([admission.held(), admission.taken()]).toEqual([0, 0]);
  });

  test('held_callers_are_bounded_in_number_too', async () => {
    const admission = admissionOf(1, 1);
    for (let n = 0; n < 2; n += 1) await admission.admit({ holdMs: 0, signal: never });
    const gone = new AbortController();
    const held = [0, 1].map(() => admission.admit({ holdMs: 5_000, signal: gone.signal }));
    await expect(admission.admit({ holdMs: 5_000, signal: never })).rejects.toMatchObject({
      code: 'queue_full',
    });
    gone.abort();
    await Promise.allSettled(held);
  });

  test('a_document_always_gets_on_by_one_page_and_takes_a_unit_for_each_further_one', async () => {
    const admission = admissionOf(1, 1);
    const one = await admission.admit({ holdMs: 0, signal: never });
    const two = await admission.admit({ holdMs: 0, signal: never });
    const first = await one.takePage(never);
    let second = false;
    const waiting = one.takePage(never).then((give) => {
      second = true;
      return give;
    });
    await two.takePage(never);
    expect(second).toBe(false);
    first();
    (await waiting)();
    one.close();
    two.close();
    expect(admission.taken()).toBe(0);
  });
});

describe('a document’s units', () => {
  test('are_given_back_as_its_pages_end_not_when_it_ends', async () => {
    const admission = admissionOf(4, 4);
    const ticket = await admission.admit({ holdMs: 0, signal: never });
    const pages = await Promise.all([1, 2, 3].map(() => ticket.takePage(never)));
    expect(admission.taken()).toBe(3);
    for (const give of pages) give();
    expect(admission.taken()).toBe(1);
  });
});

/** What a random crowd of requests does, step by step. */
type Step = { do: 'admit' | 'take' | 'give' | 'close' | 'abort'; at: number };

const steps = fc.array(
  fc.record({ do: fc.constantFrom<Step['do'][]>('admit', 'take', 'give', 'close', 'abort'), at: fc.nat(9) }),
  { maxLength: 80 },
);

describe('any interleaving of requests', () => {
  test('never_takes_more_than_fits_and_ends_with_nothing_taken', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        steps,
        async (inFlight, queued, todo) => {
          const admission = admissionOf(inFlight, queued);
          const open: { ticket: Ticket; pages: (() => void)[]; abort: AbortController }[] = [];
          const settle = () => new Promise((resolve) => setImmediate(resolve));
          const close = (index: number): void => {
            for (const request of open.splice(index, 1)) {
              request.abort.abort();
              for (const give of request.pages) give();
              request.ticket.close();
            }
          };
          for (const step of todo) {
            const request = open[step.at % Math.max(1, open.length)];
            if (step.do === 'admit') {
              const ticket = await admission.admit({ holdMs: 0, signal: never }).catch(() => null);
              if (ticket) open.push({ ticket, pages: [], abort: new AbortController() });
            } else if (request && step.do === 'take') {
              request.ticket.takePage(request.abort.signal).then(
                (give) => (open.includes(request) ? request.pages.push(give) : give()),
                () => undefined,
              );
            } else if (request && step.do === 'give') request.pages.pop()?.();
            else if (request && step.do === 'close') close(open.indexOf(request));
            else if (request) {
              request.abort.abort();
              request.abort = new AbortController();
            }
            await settle();
            expect(admission.taken()).toBeLessThanOrEqual(inFlight + queued);
            for (const { pages } of open) expect(pages.length).toBeLessThanOrEqual(admission.taken());
          }
          while (open.length > 0) close(0);
          await settle();
          expect(admission.taken()).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });
});
