import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { limitDrawing } from './limit-drawing.ts';

test('only_the_time_that_its_own_thread_has_worked_since_it_began_counts', async () => {
  const used = { user: 5_000_000, system: 0 };
  const drawer = { threadId: 7, cpuUsage: async () => ({ ...used }) };
  const other = { threadId: 8, cpuUsage: async () => ({ user: process.hrtime()[0] * 1e6, system: 0 }) };
  const limit = limitDrawing(() => [other, drawer], 40);
  try {
    await wait(80);
    expect(limit.signal.aborted).toBe(false);
    Atomics.store(limit.thread, 0, 7);
    // Its core is somebody else's: it waits, and no time of its own passes.
    await wait(120);
    expect(limit.signal.aborted).toBe(false);
    used.system += 39_000;
    await wait(40);
    expect(limit.signal.aborted).toBe(false);
    used.user += 1_000;
    await expect.poll(() => limit.signal.aborted).toBe(true);
  } finally {
    limit.clear();
  }
});

test('a_thread_that_has_ended_has_no_drawing_to_end', async () => {
  const drawer = { threadId: 7, cpuUsage: () => Promise.reject(new Error('not running')) };
  const limit = limitDrawing(() => [drawer], 40);
  Atomics.store(limit.thread, 0, 7);
  await wait(60);
  limit.clear();
  expect(limit.signal.aborted).toBe(false);
});
