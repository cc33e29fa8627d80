import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observeProcess } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ChildRoster } from './child-roster.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function record(bootId: string, pid: number, worker = -1): Promise<void> {
  const process = (await observeProcess(pid)) ?? { pid, startTicks: 1, bootId: 'another boot' };
  await writeFile(
    join(folder, `${bootId}.json`),
    JSON.stringify({ v: 1, bootId, worker, port: 9_000, process }),
  );
}

const states = (roster: ChildRoster) =>
  Object.fromEntries(roster.next().workers.map((row) => [row.bootId, row.state]));

describe('the roster of forwarding children', () => {
  test('tells_of_earlier_children_until_their_process_is_proven_gone', async () => {
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(orphan, 'spawn');
    await record('aa', orphan.pid ?? 0);
    await record('bb', 999_999_999);
    await record('cc', process.pid, 3);
    const roster = new ChildRoster({ workersDir: folder, primaryId: 'me', nowMs: Date.now });
    expect(await roster.recallOrphans()).toEqual(['aa']);
    expect(states(roster)).toEqual({ aa: 'orphan', bb: 'exited' });

    const gone = once(orphan, 'exit');
    orphan.kill('SIGKILL');
    await gone;
    expect(await roster.lookAtOrphans()).toBe(true);
    expect(states(roster)).toEqual({ aa: 'exited', bb: 'exited' });
  });

  test('an_exit_is_told_for_ten_minutes_and_then_its_record_goes_too', async () => {
    let now = 1_000_000;
    await record('bb', 999_999_999);
    const roster = new ChildRoster({ workersDir: folder, primaryId: 'me', nowMs: () => now });
    await roster.recallOrphans();
    now += 599_000;
    expect(states(roster)).toEqual({ bb: 'exited' });
    now += 2_000;
    expect(states(roster)).toEqual({});
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(access(join(folder, 'bb.json'))).rejects.toThrow();
  });
});
