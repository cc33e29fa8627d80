import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterPaths, loadConfig } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readGroup } from './group.ts';
import { startCluster } from './start-cluster.ts';
import { makeStateDir } from './state-dir.ts';

// DESIGN 3, Stopping: what runs is found also when the files that name it are lost.

let folder: string;
let paths: ClusterPaths;
const pids: number[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pf-find-'));
  paths = makeStateDir(join(folder, 'state'));
});
afterEach(() => {
  for (const pid of pids.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // ended already
    }
  }
  rmSync(folder, { recursive: true });
});

/** A session whose leader looks like the state directory's supervisord, with one program below it. */
async function startLookalike(stateDir: string): Promise<number> {
  const script = `sh -c 'echo on; sleep 60; :' ${paths.natsConfFile} & wait`;
  const child = spawn('/bin/sh', ['-c', script, paths.supervisorConfFile], {
    detached: true,
    env: { ...process.env, PAGEFLEET_STATE: stateDir },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  pids.push(child.pid ?? 0);
  return child.pid ?? 0;
}

describe('a session whose file is lost', () => {
  test.each(['', '{}', 'null', '{"pid":1', '{"pid":1,"startTicks":1,"bootId":"gone"}'])(
    'is_found_by_its_processes: %s',
    async (text) => {
      const pid = await startLookalike(paths.stateDir);
      expect(readGroup(paths)?.pid).toBe(pid);
      writeFileSync(paths.groupFile, text);
      expect(readGroup(paths)?.pid).toBe(pid);
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => readGroup(paths)).toMatchObject({ pid });
    },
  );

  test('is_never_one_of_another_state_directory', async () => {
    await startLookalike(`${paths.stateDir}-2`);
    expect(readGroup(paths)).toBeNull();
  });

  test('keeps_up_from_starting_beside_it_and_the_lost_files_are_named', async () => {
    await startLookalike(paths.stateDir);
    const { config } = loadConfig({ env: { PAGEFLEET_STATE_DIR: paths.stateDir }, cwd: folder });
    await expect(startCluster(config, { say: () => undefined, rehearse: false })).rejects.toMatchObject({
      code: 'already_running',
      message: expect.stringMatching(
        /run\/group\.json and .*run\/cluster\.json cannot be read.*pagefleet down/,
      ),
    });
  });
});
