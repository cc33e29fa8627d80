import { describe, expect, test } from 'vitest';
import { createRosterBook } from './roster.ts';

function bookAt(clock: { nowMs: number }) {
  return createRosterBook({ group: 'workers', primaryId: 'p', nowMs: () => clock.nowMs });
}

describe('the roster', () => {
  test('tells_every_change_with_a_growing_number', () => {
    const clock = { nowMs: 5 };
    const book = bookAt(clock);
    book.set({ bootId: 'a', worker: 0, pid: 9, port: 80, state: 'starting' });
    clock.nowMs = 8;
    book.state('a', 'listening');
    expect(book.snapshot().roster).toEqual({
      v: 1,
      group: 'workers',
      primaryId: 'p',
      seq: 1,
      atMs: 8,
      workers: [{ bootId: 'a', worker: 0, pid: 9, port: 80, state: 'listening', sinceMs: 8 }],
    });
    expect(book.snapshot().roster.seq).toBe(2);
  });

  test('an_exit_is_final', () => {
    const book = bookAt({ nowMs: 0 });
    book.set({ bootId: 'a', worker: 0, pid: 9, port: 80, state: 'listening' });
    book.state('a', 'exited');
    book.state('a', 'listening');
    expect(book.snapshot().roster.workers[0]?.state).toBe('exited');
  });

  test('exits_stay_listed_for_ten_minutes_and_are_then_named_for_cleaning_up', () => {
    const clock = { nowMs: 0 };
    const book = bookAt(clock);
    book.set({ bootId: 'a', worker: 0, pid: 9, port: 80, state: 'exited' });
    clock.nowMs = 599_999;
    expect(book.snapshot()).toMatchObject({ roster: { workers: [{ bootId: 'a' }] }, forgotten: [] });
    clock.nowMs = 600_000;
    expect(book.snapshot()).toMatchObject({ roster: { workers: [] }, forgotten: ['a'] });
  });
});
