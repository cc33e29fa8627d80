import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMailbox } from './mailbox.ts';

describe('createMailbox', () => {
  it('never_runs_two_tasks_at_once_and_keeps_their_order', async () => {
    const task = fc.record({ turns: fc.nat({ max: 3 }), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(task, { maxLength: 12 }), async (tasks) => {
        const mailbox = createMailbox();
        const order: number[] = [];
        let running = 0;
        const results = await Promise.allSettled(
          tasks.map(({ turns, fails }, n) =>
            mailbox.run('task', async () => {
              running += 1;
              expect(running).toBe(1);
              for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
              order.push(n);
              running -= 1;
              if (fails) throw new Error(`task ${n}`);
              return n;
            }),
          ),
        );
        expect(order).toEqual(tasks.map((_, n) => n));
        expect(results.map(({ status }) => status === 'rejected')).toEqual(tasks.map(({ fails }) => fails));
        expect(mailbox.depth).toBe(0);
      }),
    );
  });

  it('a_task_that_throws_rejects_its_own_promise_only', async () => {
    const mailbox = createMailbox();
    const bad = mailbox.run('bad', () => {
      throw new Error('no');
    });
    const good = mailbox.run('good', () => 7);
    await expect(bad).rejects.toThrow('no');
    expect(await good).toBe(7);
  });

  it('counts_what_waits_and_runs', async () => {
    const mailbox = createMailbox();
    const first = mailbox.run('a', () => sleep(5));
    const second = mailbox.run('b', () => undefined);
    expect(mailbox.depth).toBe(2);
    await first;
    await second;
    expect(mailbox.depth).toBe(0);
  });

  it('a_task_that_hangs_is_named_while_it_still_runs', async () => {
    const slow: [string, number][] = [];
    const mailbox = createMailbox({ slowMs: 10, onSlow: (name, _ms, depth) => slow.push([name, depth]) });
    let release = () => {};
    const hanging = mailbox.run('listing', () => new Promise<void>((resolve) => (release = resolve)));
    void mailbox.run('next', () => undefined);
    while (slow.length === 0) await sleep(5);
    expect(slow[0]).toEqual(['listing', 2]);
    release();
    await hanging;
  });
});
