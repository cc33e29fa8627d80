import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameProcess, observeProcess } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { launchServer, type ServerProcess } from './launch-server.ts';
import { createServerRecord } from './leftover.ts';

const NODE = process.execPath;
const LIVES_ON =
  'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000); console.log("up");';
const running: ServerProcess[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function launch(command: readonly string[], env: readonly string[] = []) {
  let output = '';
  const server = await launchServer({ command, env, onOutput: (chunk) => (output += chunk) });
  running.push(server);
  return { server, output: () => output };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let n = 0; n < 400 && !(await holds()); n += 1) await sleep(20);
  expect(await holds()).toBe(true);
}

describe('the process of a model server (R-040, law L16)', () => {
  test('its_end_is_told_with_what_it_printed_last', async () => {
    const { server } = await launch([NODE, '-e', 'console.error("no card"); process.exitCode = 3']);
    expect(await server.exited).toEqual({ code: 3, how: 'it ended with code 3' });
    await until(() => server.tail() === 'no card');
  });

  test('a_program_that_is_not_there_is_told_as_such', async () => {
    const { server } = await launch(['no-such-model-server', '--flag']);
    expect((await server.exited).how).toBe('there is no such program');
  });

  test('it_gets_its_own_variables_and_nothing_that_was_told_to_the_gateway', async () => {
    process.env.PAGEFLEET_POD_TOKEN = 'never-passed-on';
    process.env.RUNPOD_API_KEY = 'never-passed-on';
    try {
      const print = 'console.log(JSON.stringify(process.env))';
      const { server, output } = await launch([NODE, '-e', print], ['OMP_NUM_THREADS=1', 'A=b=c']);
      await server.exited;
      await until(() => output().endsWith('\n'));
      expect(JSON.parse(output())).toMatchObject({ OMP_NUM_THREADS: '1', A: 'b=c', PATH: process.env.PATH });
      expect(output()).not.toContain('never-passed-on');
    } finally {
      delete process.env.PAGEFLEET_POD_TOKEN;
      delete process.env.RUNPOD_API_KEY;
    }
  });

  test('stopping_ends_the_whole_group_and_waits_for_it', async () => {
    const start = `const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], { stdio: "ignore" });
      console.log(child.pid); setInterval(() => undefined, 1000);`;
    const { server, output } = await launch([NODE, '-e', start]);
    await until(() => output().endsWith('\n'));
    const grandchild = await observeProcess(Number(output()));
    expect(grandchild).not.toBeNull();
    await server.stop();
    expect(await observeProcess(server.pid)).toBeNull();
    expect(grandchild && (await isSameProcess(grandchild))).toBe(false);
    await server.stop();
  });

  test('it_ends_with_its_gateway_even_when_that_is_killed', async () => {
    const launcher = `import { launchServer } from ${JSON.stringify(join(import.meta.dirname, 'launch-server.ts'))};
      const command = [process.execPath, '-e', ${JSON.stringify(LIVES_ON)}];
      const server = await launchServer({ command, env: [], onOutput: () => console.log(server.pid) });`;
    const gateway = spawn(NODE, ['--input-type=module', '-e', launcher], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = await once(gateway.stdout, 'data');
    const identity = await observeProcess(Number(String(printed)));
    expect(identity).not.toBeNull();
    gateway.kill('SIGKILL');
    await until(async () => identity !== null && !(await isSameProcess(identity)));
  });
});

describe('the record of a model server', () => {
  function recordFile(): string {
    const folder = mkdtempSync(join(tmpdir(), 'engine-record-'));
    folders.push(folder);
    return join(folder, 'engine.json');
  }

  test('one_that_was_left_behind_is_ended_before_the_next_gateway_starts_its_own', async () => {
    const file = recordFile();
    const { server, output } = await launch([NODE, '-e', LIVES_ON]);
    await until(() => output() !== '');
    await createServerRecord(file).write(server.pid);
    expect(await createServerRecord(file).endLeftover()).toBe(true);
    expect(await observeProcess(server.pid)).toBeNull();
    expect(await createServerRecord(file).endLeftover()).toBe(false);
  });

  test('a_pid_that_means_another_process_by_now_is_let_alone', async () => {
    const file = recordFile();
    const { server } = await launch([NODE, '-e', LIVES_ON]);
    const identity = await observeProcess(server.pid);
    writeFileSync(file, JSON.stringify({ ...identity, startTicks: 1 }));
    expect(await createServerRecord(file).endLeftover()).toBe(false);
    expect(await observeProcess(server.pid)).not.toBeNull();
  });

  test.each(['', '{}', '{"pid":"1"}', 'null'])('%j_names_nobody', async (content) => {
    const file = recordFile();
    writeFileSync(file, content);
    expect(await createServerRecord(file).endLeftover()).toBe(false);
    await createServerRecord(file).remove();
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});
