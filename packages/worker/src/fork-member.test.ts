import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { forkMember } from './fork-member.ts';

const node = process.execPath;
afterEach(() => {
  process.execPath = node;
});

test('a_fork_that_fails_is_told_as_an_exit_and_does_not_end_the_primary (R-008)', async () => {
  process.execPath = join(tmpdir(), 'no-such-node');
  const ended = Promise.withResolvers<object>();
  const member = forkMember('b0', 0);
  member.onExit(ended.resolve);
  member.send({ kind: 'ping' });
  expect(member.pid).toBe(0);
  expect(await ended.promise).toEqual({ code: null, signal: null });
  member.kill();
  await sleep(50);
});
