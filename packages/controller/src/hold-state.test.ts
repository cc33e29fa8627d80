import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HeldState, holdState } from './hold-state.ts';

let folder: string;
let socketPath: string;
const held: HeldState[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hold-'));
  socketPath = join(folder, 'controller.sock');
});
afterEach(async () => {
  for (const one of held.splice(0)) await one.release();
  await rm(folder, { recursive: true, force: true });
});

async function hold(controllerId: string): Promise<HeldState> {
  const one = await holdState(socketPath, controllerId);
  held.push(one);
  return one;
}

/** leaves a socket behind as `kill -9` does */
async function leaveDeadSocket(): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(socketPath)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script], { stdio: 'ignore' }), 'exit');
  await access(socketPath);
}

describe('holding the state directory', () => {
  test('a_second_controller_is_refused_while_the_first_lives', async () => {
    await hold('one');
    await expect(holdState(socketPath, 'two')).rejects.toMatchObject({ code: 'already_running' });
    await expect(holdState(socketPath, 'three')).rejects.toMatchObject({ code: 'already_running' });
  });

  test('the_socket_of_a_dead_controller_is_taken_over', async () => {
    await leaveDeadSocket();
    await hold('two');
    await expect(holdState(socketPath, 'three')).rejects.toMatchObject({ code: 'already_running' });
  });

  test('a_controller_that_accepts_but_says_nothing_counts_as_alive', async () => {
    const hung = createServer(() => undefined);
    hung.listen(socketPath);
    await once(hung, 'listening');
    await expect(holdState(socketPath, 'two')).rejects.toMatchObject({ code: 'already_running' });
    hung.close();
  });

  test('of_many_that_take_over_a_dead_one_at_once_exactly_one_stays', async () => {
    await leaveDeadSocket();
    const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((id) => hold(id)));
    expect(all.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
  });

  test('after_release_the_next_one_starts', async () => {
    const first = await hold('one');
    await first.release();
    held.length = 0;
    await hold('two');
  });

  test('a_holder_whose_folder_was_removed_or_taken_over_hears_of_it_once', async () => {
    for (const take of [() => rm(socketPath), () => replaceSocket()]) {
      let lost = 0;
      const one = await holdState(socketPath, 'one', 30);
      one.onLost(() => {
        lost += 1;
      });
      await sleep(120);
      expect(lost).toBe(0);
      await take();
      await sleep(200);
      expect(lost).toBe(1);
      await rm(socketPath, { force: true });
      await one.release();
    }
  });

  async function replaceSocket(): Promise<void> {
    await rm(socketPath);
    await hold('two');
  }

  test('a_path_too_long_for_a_socket_is_said_so', async () => {
    await expect(holdState(join(folder, 'x'.repeat(120)), 'one')).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('too long'),
    });
  });
});
