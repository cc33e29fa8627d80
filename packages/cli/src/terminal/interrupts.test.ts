import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { watchInterrupts } from './interrupts.ts';

afterEach(() => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
});

describe('Ctrl-C', () => {
  test('passed_on_twice_by_terminal_and_npm_is_one_press_and_a_later_one_is_the_second', async () => {
    const { first, second, firstName } = watchInterrupts();
    expect(firstName()).toBeNull();
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect([first.aborted, second.aborted, firstName()]).toEqual([true, false, 'SIGINT']);
    await sleep(450);
    process.emit('SIGINT', 'SIGINT');
    expect(second.aborted).toBe(true);
    expect(first.reason).toMatchObject({ code: 'interrupted' });
  });
});
