import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, observeProcess, type ProcessIdentity } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { adoptOrphans } from './adopt-orphans.ts';
import { cleanSpool } from './clean-spool.ts';
import { createRosterBook } from './roster.ts';
import { readRecords, writeRecord } from './worker-record.ts';

let folder = '';
let workersDir = '';
let spoolDir = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pagefleet-records-'));
  workersDir = join(folder, 'workers');
  spoolDir = join(folder, 'spool');
  for (const path of [workersDir, spoolDir]) mkdirSync(path);
});
afterEach(() => rmSync(folder, { recursive: true }));

async function self(): Promise<ProcessIdentity> {
  const identity = await observeProcess(process.pid);
  if (!identity) throw new Error('this process cannot be observed');
  return identity;
}

const record = (bootId: string, identity: ProcessIdentity, more: object = {}) =>
  writeRecord(workersDir, { v: 1, bootId, worker: 0, port: 80, process: identity, ...more });

function adopt() {
  const roster = createRosterBook({ group: 'workers', primaryId: 'p', nowMs: Date.now });
  const logger = createLogger({ component: 'test', level: 'silent' });
  const states = () =>
    Object.fromEntries(roster.snapshot().roster.workers.map(({ bootId, state }) => [bootId, state]));
  return { states, adopted: adoptOrphans({ workersDir, roster, logger, onChange: () => undefined }) };
}

describe('workers of an earlier primary', () => {
  test('that_live_are_orphans_until_their_process_is_gone_and_the_dead_are_told_as_exited', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const living = await observeProcess(child.pid ?? 0);
    if (!living) throw new Error('the child cannot be observed');
    await record('aa', living);
    await record('bb', { ...(await self()), startTicks: 1 });
    const { states, adopted } = adopt();
    await adopted;
    expect(states()).toEqual({ aa: 'orphan', bb: 'exited' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expect.poll(states, { timeout: 5_000 }).toEqual({ aa: 'exited', bb: 'exited' });
    await expect
      .poll(async () => (await readRecords(workersDir)).map((r) => r.exitedAtMs !== undefined))
      .toEqual([true, true]);
  });

  test('whose_exit_was_told_for_long_enough_are_forgotten_and_the_controllers_child_is_not_ours', async () => {
    await record('aa', await self(), { exitedAtMs: Date.now() - 700_000 });
    await record('cc', await self(), { worker: -1 });
    const { states, adopted } = adopt();
    await adopted;
    expect(states()).toEqual({});
    expect(readdirSync(workersDir)).toEqual(['cc.json']);
  });

  test('leave_records_that_are_none_alone', async () => {
    writeFileSync(join(workersDir, 'dd.json'), '{"v":1');
    writeFileSync(join(workersDir, 'notes.txt'), 'x');
    expect(await readRecords(workersDir)).toEqual([]);
  });
});

describe('the spool', () => {
  test('keeps_the_files_of_the_living_and_loses_those_of_the_dead', async () => {
    await record('aa', await self());
    await record('bb', { ...(await self()), startTicks: 1 });
    for (const name of ['aa-1', 'bb-1', 'bb-22', 'cc-1', 'README']) writeFileSync(join(spoolDir, name), '');
    expect(await cleanSpool(spoolDir, workersDir)).toBe(3);
    expect(readdirSync(spoolDir).sort()).toEqual(['README', 'aa-1']);
    expect(existsSync(join(workersDir, 'bb.json'))).toBe(true);
  });
});
