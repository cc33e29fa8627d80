import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  isSameProcess,
  observeProcess,
  type ProcessIdentity,
  parseStat,
  signalProcess,
} from './process-identity.ts';

// Other processes are started here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function startChild(): Promise<{ child: ChildProcess; identity: ProcessIdentity }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  const identity = await observeProcess(child.pid ?? 0);
  if (!identity) throw new Error('the child is not there');
  return { child, identity };
}

describe('process identity', () => {
  it('a_running_process_is_the_same_and_an_ended_one_is_not', async () => {
    const { child, identity } = await startChild();
    expect(await isSameProcess(identity)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await observeProcess(identity.pid)).toBeNull();
    expect(await isSameProcess(identity)).toBe(false);
  });

  it('another_start_time_or_boot_is_another_process_and_gets_no_signal', async () => {
    const { child, identity } = await startChild();
    for (const other of [
      { ...identity, startTicks: identity.startTicks + 1 },
      { ...identity, bootId: 'another boot' },
    ]) {
      expect(await signalProcess(other, 'SIGKILL')).toBe(false);
    }
    expect(await isSameProcess(identity)).toBe(true);
    expect(await signalProcess(identity, 'SIGKILL')).toBe(true);
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
    expect(await signalProcess(identity, 'SIGKILL')).toBe(false);
  });

  it('a_pid_that_cannot_be_one_names_nothing', async () => {
    // kill(0) and kill(-1) would reach whole groups.
    for (const pid of [0, -1, 1.5, Number.NaN]) expect(await observeProcess(pid)).toBeNull();
  });

  it('two_observations_of_one_process_are_equal', async () => {
    expect(await observeProcess(process.pid)).toEqual(await observeProcess(process.pid));
    expect((await observeProcess(process.pid))?.startTicks).toBeGreaterThan(0);
  });
});

describe('parseStat', () => {
  const rest = 'S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20';

  it('is_not_misled_by_blanks_and_brackets_in_the_name', () => {
    expect(parseStat(`12 (node) ${rest}`)).toEqual({ state: 'S', startTicks: 4711 });
    expect(parseStat(`12 (a) b (c) S) ${rest}`)).toEqual({ state: 'S', startTicks: 4711 });
  });

  it('half_a_line_is_nothing', () => {
    expect(parseStat('12 (node) S 1 2')).toBeNull();
    expect(parseStat('')).toBeNull();
  });
});
