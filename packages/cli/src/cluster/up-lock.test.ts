import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observeProcess } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeStateDir } from './state-dir.ts';
import { withStateLock } from './up-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pf-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the lock of a state directory', () => {
  test('a_second_command_is_refused_while_the_first_lives_and_is_told_what_to_do', async () => {
    const paths = makeStateDir(join(folder, 'state'));
    await withStateLock(paths, async () => {
      await expect(withStateLock(paths, async () => 1)).rejects.toMatchObject({
        code: 'already_running',
        message: expect.stringMatching(/Wait until it has ended and try again; .*`kill \d+`/),
      });
    });
    expect(await withStateLock(paths, async () => 2)).toBe(2);
  });

  test('it_has_no_content_that_a_full_disk_could_refuse_and_leaves_nothing_behind', async () => {
    const paths = makeStateDir(join(folder, 'state'));
    await withStateLock(paths, async () => {
      const own = await observeProcess(process.pid);
      const names = readdirSync(paths.runDir, { withFileTypes: true });
      expect(names.map((entry) => [entry.name, entry.isSymbolicLink()])).toEqual([['lock', true]]);
      // A link of up to 59 bytes lies in its inode on ext4, and needs no block.
      expect(`${process.pid}:${own?.startTicks}:${own?.bootId}`.length).toBeLessThan(60);
    });
    expect(readdirSync(paths.runDir)).toEqual([]);
  });

  test.each(['1:1:before the reboot', 'no identity'])(
    'a_lock_of_a_dead_holder_does_not_block: %s',
    async (target) => {
      const paths = makeStateDir(join(folder, 'state'));
      symlinkSync(target, join(paths.runDir, 'lock'));
      expect(await withStateLock(paths, async () => 'mine')).toBe('mine');
    },
  );

  test('empty_lock_files_that_killed_commands_left_are_removed', async () => {
    const paths = makeStateDir(join(folder, 'state'));
    for (const name of ['lock', 'lock.4711']) writeFileSync(join(paths.runDir, name), '');
    expect(await withStateLock(paths, async () => 'mine')).toBe('mine');
    expect(readdirSync(paths.runDir)).toEqual([]);
  });
});
