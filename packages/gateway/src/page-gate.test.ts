import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPageGate, type PageTicket } from './page-gate.ts';

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('page gate (DESIGN section 6, last line; R-017, law L10)', () => {
  it('width_pages_run_and_as_many_again_wait_and_the_next_is_refused', async () => {
    const gate = createPageGate(2);
    const tickets = [gate.enter(), gate.enter(), gate.enter(), gate.enter()];
    expect(tickets).not.toContain(null);
    expect(gate.enter()).toBeNull();
    for (const ticket of tickets) void ticket?.slot(never);
    await settle();
    expect([gate.running(), gate.waiting()]).toEqual([2, 2]);
  });

  it('a_page_that_leaves_hands_its_slot_to_the_one_that_waits_longest', async () => {
    const gate = createPageGate(1);
    const order: string[] = [];
    const take = (name: string): PageTicket => {
      const ticket = gate.enter();
      if (!ticket) throw new Error('full');
      void ticket.slot(never).then(() => order.push(name));
      return ticket;
    };
    const first = take('first');
    const second = take('second');
    await settle();
    first.leave();
    take('third');
    await settle();
    second.leave();
    await settle();
    expect(order).toEqual(['first', 'second', 'third']);
  });

  it('a_page_that_gives_up_waiting_leaves_nothing_behind', async () => {
    const gate = createPageGate(1);
    const running = gate.enter();
    await running?.slot(never);
    const waiting = gate.enter();
    const hangUp = new AbortController();
    const slot = waiting?.slot(hangUp.signal);
    hangUp.abort(new Error('gone'));
    await expect(slot).rejects.toThrow('gone');
    waiting?.leave();
    running?.leave();
    expect([gate.running(), gate.waiting()]).toEqual([0, 0]);
  });

  it('a_page_that_left_while_it_waited_never_gets_a_slot', async () => {
    const gate = createPageGate(1);
    const running = gate.enter();
    await running?.slot(never);
    const waiting = gate.enter();
    let got = false;
    void waiting?.slot(never).then(() => {
      got = true;
    });
    waiting?.leave();
    running?.leave();
    await settle();
    expect([got, gate.running(), gate.waiting()]).toEqual([false, 0, 0]);
  });

  it('any_interleaving_keeps_the_width_and_ends_with_no_slot_taken', async () => {
    const step = fc.record({
      kind: fc.constantFrom('enter', 'slot', 'leave', 'abort'),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 60 }),
        async (width, steps) => {
          const gate = createPageGate(width);
          const pages: { ticket: PageTicket; abort: AbortController; asked: boolean }[] = [];
          let inside = 0;
          const left = new Set<number>();
          for (const { kind, which } of steps) {
            const index = pages.length === 0 ? 0 : which % pages.length;
            const page = pages[index];
            if (kind === 'enter') {
              const ticket = gate.enter();
              expect(ticket === null).toBe(inside >= 2 * width);
              if (ticket) {
                inside += 1;
                pages.push({ ticket, abort: new AbortController(), asked: false });
              }
            } else if (page && kind === 'slot' && !page.asked) {
              page.asked = true;
              page.ticket.slot(page.abort.signal).catch(() => undefined);
            } else if (page && kind === 'leave') {
              if (!left.has(index)) inside -= 1;
              left.add(index);
              page.abort.abort();
              page.ticket.leave();
            } else if (page && kind === 'abort') {
              page.abort.abort();
            }
            if (which % 3 === 0) await settle();
            expect(gate.running()).toBeLessThanOrEqual(width);
            expect(gate.waiting()).toBeGreaterThanOrEqual(0);
          }
          for (const page of pages) {
            page.abort.abort();
            page.ticket.leave();
          }
          await settle();
          expect([gate.running(), gate.waiting()]).toEqual([0, 0]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
