import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterPaths, observeProcess, type ProcessIdentity } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { choosePorts, requireFreeEndpoint } from './choose-ports.ts';
import { endSession } from './end-session.ts';
import { writeNatsFiles } from './nats-files.ts';
import { observeSession } from './session.ts';
import { makeStateDir } from './state-dir.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

function temporaryState() {
  const folder = mkdtempSync(join(tmpdir(), 'pf-cli-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return makeStateDir(join(folder, 'state'));
}

/** A shell in a session of its own that runs the script. */
async function startSession(script: string): Promise<ProcessIdentity> {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const identity = await observeProcess(child.pid ?? 0);
  if (!identity) throw new Error('the shell is gone');
  cleanups.push(() => {
    try {
      process.kill(-identity.pid, 'SIGKILL');
    } catch {
      // ended already
    }
  });
  return identity;
}

describe('leftovers of a state directory', () => {
  test('members_of_the_session_are_found_after_its_leader_was_killed_and_ended', async () => {
    const leader = await startSession('sleep 60 & sleep 60 & echo on; wait');
    expect(await observeSession(leader)).toHaveLength(3);
    process.kill(leader.pid, 'SIGKILL');
    await expect.poll(async () => (await observeSession(leader)).length).toBe(2);
    expect(await endSession(leader, { patienceMs: 3_000 })).toEqual([]);
    expect(await observeSession(leader)).toEqual([]);
  });

  test('what_outstays_the_patience_is_killed_and_named', async () => {
    const leader = await startSession('trap "" TERM; echo on; while :; do sleep 1; done');
    const said: string[] = [];
    expect(await endSession(leader, { patienceMs: 300, say: (line) => said.push(line) })).toEqual([]);
    expect(said.join()).toContain('is killed');
  });

  test('a_process_that_only_has_the_same_number_is_never_touched', async () => {
    const leader = await startSession('echo on; sleep 60');
    expect(await observeSession({ ...leader, startTicks: leader.startTicks - 1 })).toEqual([]);
    expect(await observeSession({ ...leader, bootId: 'another boot' })).toEqual([]);
    expect(await observeSession(leader)).not.toEqual([]);
  });
});

describe('files and ports', () => {
  test('the_state_directory_is_closed_to_others_and_credentials_are_private_and_kept', async () => {
    const paths = temporaryState();
    expect(statSync(paths.stateDir).mode & 0o777).toBe(0o700);
    await writeNatsFiles(paths, 4_222);
    const first = readFileSync(paths.natsCredentialsFile, 'utf8');
    await writeNatsFiles(paths, 4_223);
    expect(readFileSync(paths.natsCredentialsFile, 'utf8')).toBe(first);
    expect(readFileSync(paths.natsConfFile, 'utf8')).toContain('127.0.0.1:4223');
    for (const file of [paths.natsCredentialsFile, paths.natsConfFile]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
  });

  test('a_state_directory_that_nginx_cannot_name_is_refused_with_the_character', () => {
    expect(() => makeStateDir(join(tmpdir(), 'my pages'))).toThrow(/holds the character " "/);
    expect(clusterPaths('/x').stateDir).toBe('/x');
  });

  test('ports_of_the_last_life_are_kept_unless_they_are_taken', async () => {
    const first = await choosePorts(2, null);
    expect(new Set([first.nats, first.controller, first.backup, ...first.workers]).size).toBe(5);
    expect(await choosePorts(2, first)).toEqual(first);
    const thief = createServer();
    await new Promise<void>((resolve) => thief.listen(first.controller, '127.0.0.1', resolve));
    const second = await choosePorts(3, first);
    expect(second.controller).not.toBe(first.controller);
    expect(second.workers.slice(0, 2)).toEqual(first.workers);
    await expect(requireFreeEndpoint({ host: '127.0.0.1', port: first.controller })).rejects.toThrow(
      /in use/,
    );
    await new Promise((resolve) => thief.close(resolve));
  });
});
