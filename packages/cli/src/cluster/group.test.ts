import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterPaths, observeProcess } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { endSession } from './end-session.ts';
import { readGroupFile, startGroup } from './group.ts';
import { makeStateDir } from './state-dir.ts';

// A real supervisord is started, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let paths: ClusterPaths;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pf-group-'));
  paths = makeStateDir(join(folder, 'state'));
});
afterEach(async () => {
  const group = readGroupFile(paths);
  if (group) await endSession(group, { patienceMs: 5_000 });
  rmSync(folder, { recursive: true });
});

function writeConf(setting: string): void {
  const lines = [
    '[supervisord]',
    `logfile=${paths.logFile('supervisord')}`,
    `pidfile=${paths.supervisorPidFile}`,
    process.getuid?.() === 0 ? 'user=root' : '',
    setting,
  ];
  writeFileSync(paths.supervisorConfFile, lines.join('\n'));
}

describe('supervisord (DESIGN 3)', () => {
  test('writes_its_last_words_nowhere_that_a_full_disk_could_refuse', async () => {
    writeConf('');
    const group = await startGroup(paths);
    expect(readGroupFile(paths)).toEqual(group);
    expect(await observeProcess(group.pid)).toEqual(group);
    await expect
      .poll(() => [1, 2].map((fd) => readlinkSync(`/proc/${group.pid}/fd/${fd}`)))
      .toEqual(['/dev/null', '/dev/null']);
  });

  test('says_what_keeps_it_from_starting', async () => {
    writeConf('loglevel=no such level');
    await expect(startGroup(paths)).rejects.toThrow(/supervisord did not start: .*no such level/);
    expect(readGroupFile(paths)).toBeNull();
  });
});
