import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalProvider, type Provider } from '@pagefleet/providers';
import { observeProcess, signalProcess } from '@pagefleet/runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rent, rentRequest, untilGone, untilServing } from '../../conformance/provider.ts';
import { isAlive, type LocalAccount, openLocalAccount, silentLogger } from './local-account.ts';

let account: LocalAccount;
let provider: Provider;
const cleanings: (() => void)[] = [];
beforeEach(async () => {
  account = await openLocalAccount();
  provider = account.open();
});
afterEach(async () => {
  for (const clean of cleanings.splice(0)) clean();
  await account.close();
});

const file = (id: string, name: string): string => join(account.accountDir, id, name);
const readJson = (id: string, name: string) => JSON.parse(readFileSync(file(id, name), 'utf8'));

/** A folder as a renter leaves it that dies between the record and the start. */
function makeRecord(id: string, ageMs: number): void {
  const { mark } = rentRequest();
  mkdirSync(join(account.accountDir, id));
  const record = { v: 1, id, name: mark.name, mark, host: '127.0.0.1', createdAtMs: Date.now() - ageMs };
  writeFileSync(file(id, 'record.json'), JSON.stringify(record));
}

describe('what a rent leaves in the account', () => {
  it('the_record_is_on_disk_before_anything_is_started', async () => {
    const witness = join(account.accountDir, 'node');
    writeFileSync(witness, '#!/bin/sh\nls > .seen; mv .seen seen\nexec sleep 30\n');
    chmodSync(witness, 0o700);
    const renter = createLocalProvider({
      accountDir: account.accountDir,
      logger: silentLogger,
      nodeBinary: witness,
    });
    const { id } = await rent(renter, rentRequest());
    for (let n = 0; n < 100 && !readdirSync(join(account.accountDir, id)).includes('seen'); n += 1)
      await sleep(10);
    expect(readFileSync(file(id, 'seen'), 'utf8').split('\n')).toContain('record.json');
  });

  it('nobody_else_may_look_into_it_and_no_secret_is_in_it_or_on_the_command_line', async () => {
    process.env.TEST_SECRET_OF_THE_RENTER = 'renter-secret';
    cleanings.push(() => delete process.env.TEST_SECRET_OF_THE_RENTER);
    const request = rentRequest();
    const { id } = await rent(provider, request);
    await untilServing(provider, id);
    expect(statSync(account.accountDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(account.accountDir, id)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(join(account.accountDir, id))) {
      expect([name, statSync(file(id, name)).mode & 0o077]).toEqual([name, 0]);
      expect(readFileSync(file(id, name), 'utf8')).not.toContain(request.settings.token);
    }
    const { pid } = readJson(id, 'process.json');
    if (process.platform !== 'linux') return;
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(request.settings.token);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('renter-secret');
  });

  it('a_pod_that_ends_as_soon_as_it_is_started_is_a_refusal', async () => {
    const renter = createLocalProvider({
      accountDir: account.accountDir,
      logger: silentLogger,
      nodeBinary: '/bin/false',
      // By the time anyone looks, such a program is gone.
      observeProcess: async (pid) => {
        for (let n = 0; n < 100 && (await isAlive(pid)); n += 1) await sleep(10);
        return observeProcess(pid);
      },
    });
    expect(await renter.rent(rentRequest())).toMatchObject({ kind: 'refused' });
    expect(await provider.list()).toEqual([]);
  });
});

describe('a listing of the account', () => {
  it('a_pod_that_was_killed_vanishes_and_its_log_is_kept', async () => {
    const { id } = await rent(provider, rentRequest());
    await untilServing(provider, id);
    const log = (): string => readFileSync(file(id, 'log'), 'utf8');
    // It may answer a moment before it says so.
    await expect.poll(log, { timeout: 10_000 }).toContain('pod_serving');
    process.kill(readJson(id, 'process.json').pid, 'SIGKILL');
    await untilGone(provider, id);
    expect(log()).toContain('pod_serving');
    expect(readJson(id, 'exit').reason).toMatch(/SIGKILL|gone/);
  });

  it('a_pod_whose_renter_died_before_it_wrote_down_the_process_is_found_by_what_the_pod_wrote', async () => {
    const { id } = await rent(provider, rentRequest());
    await untilServing(provider, id);
    rmSync(file(id, 'spawned.json'));
    expect(await provider.list()).toMatchObject([{ id, status: 'running' }]);
    await provider.terminate(id);
    await untilGone(provider, id);
  });

  it('a_record_without_a_process_counts_while_it_is_young_and_is_gone_after_that', async () => {
    makeRecord('local-00000001', 1_000);
    makeRecord('local-00000002', 60_000);
    expect(await provider.list()).toMatchObject([{ id: 'local-00000001', status: 'starting', url: null }]);
    // From now on a gateway that starts late finds this mark and does not serve.
    expect(readJson('local-00000002', 'exit').reason).toContain('never started');
  });

  it('a_record_that_is_ended_before_its_process_is_known_is_gone_at_once', async () => {
    makeRecord('local-00000001', 1_000);
    await provider.terminate('local-00000001');
    expect(await provider.list()).toEqual([]);
    expect(readJson('local-00000001', 'exit').reason).toBe('terminated');
  });

  it('a_listing_that_could_hide_a_pod_fails_instead (L5)', async () => {
    makeRecord('local-00000001', 1_000);
    const failure = { code: 'provider_failed' };
    writeFileSync(file('local-00000001', 'record.json'), '{"v":1');
    await expect(provider.list()).rejects.toMatchObject(failure);
    rmSync(file('local-00000001', 'record.json'));
    await expect(provider.list()).rejects.toMatchObject(failure);
    rmSync(join(account.accountDir, 'local-00000001'), { recursive: true });
    makeRecord('local-00000002', 1_000);
    writeFileSync(file('local-00000002', 'process.json'), '');
    await expect(provider.list()).rejects.toMatchObject(failure);
    rmSync(account.accountDir, { recursive: true });
    await expect(provider.list()).rejects.toMatchObject(failure);
  });

  it('half_made_and_foreign_folders_are_no_pods', async () => {
    mkdirSync(join(account.accountDir, '.new-local-00000001'));
    mkdirSync(join(account.accountDir, 'something-else'));
    writeFileSync(join(account.accountDir, 'note.txt'), '');
    expect(await provider.list()).toEqual([]);
  });

  it('only_the_last_fifty_ended_pods_are_kept', async () => {
    for (let n = 0; n < 53; n += 1) {
      const id = `local-${String(n).padStart(8, '0')}`;
      makeRecord(id, 60_000);
      writeFileSync(file(id, 'exit'), JSON.stringify({ v: 1, reason: 'test', atMs: Date.now() - 1_000 + n }));
    }
    expect(await provider.list()).toEqual([]);
    for (let n = 0; n < 100 && readdirSync(account.accountDir).length > 50; n += 1) await sleep(20);
    const kept = readdirSync(account.accountDir);
    expect(kept).toHaveLength(50);
    expect(kept).not.toContain('local-00000000');
    expect(kept).toContain('local-00000052');
  });
});

describe('the end of a local pod', () => {
  it('a_process_that_only_has_the_number_of_a_pods_process_is_not_listed_and_not_touched', async () => {
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
    cleanings.push(() => bystander.kill('SIGKILL'));
    const identity = await observeProcess(bystander.pid ?? 0);
    makeRecord('local-00000001', 1_000);
    for (const change of [{ startTicks: (identity?.startTicks ?? 0) - 1 }, { bootId: 'another boot' }]) {
      writeFileSync(file('local-00000001', 'spawned.json'), JSON.stringify({ ...identity, ...change }));
      expect(await provider.list()).toEqual([]);
      await provider.terminate('local-00000001');
    }
    await sleep(50);
    expect(await isAlive(bystander.pid ?? 0)).toBe(true);
  });

  it('a_pod_that_does_not_obey_is_killed_with_all_it_started', async () => {
    const hasty = createLocalProvider({
      accountDir: account.accountDir,
      logger: silentLogger,
      nodeBinary: process.execPath,
      killAfterMs: 500,
    });
    const { id } = await rent(provider, rentRequest());
    await untilServing(provider, id);
    process.kill(readJson(id, 'process.json').pid, 'SIGSTOP');
    await hasty.terminate(id);
    expect(await provider.list()).toMatchObject([{ id, detail: 'ending' }]);
    await untilGone(provider, id);
  });

  it('a_pod_whose_end_is_overdue_is_killed_by_the_next_who_asks', async () => {
    const { id } = await rent(provider, rentRequest());
    await untilServing(provider, id);
    const { pid } = readJson(id, 'process.json');
    process.kill(pid, 'SIGSTOP');
    writeFileSync(
      file(id, 'exit'),
      JSON.stringify({ v: 1, reason: 'terminated', atMs: Date.now() - 60_000 }),
    );
    await account.open().terminate(id);
    for (let n = 0; n < 100 && (await isAlive(pid)); n += 1) await sleep(10);
    expect(await isAlive(pid)).toBe(false);
  });

  it('an_id_that_is_none_is_refused_and_one_that_never_was_is_gone', async () => {
    for (const id of ['../account', '', 'local-1/..', 'local-0000000g', 'runpod-1']) {
      await expect(provider.terminate(id)).rejects.toMatchObject({ code: 'bad_request' });
    }
    await provider.terminate('local-ffffffff');
  });

  it('a_pod_is_not_in_the_group_of_its_renter', async () => {
    const { id } = await rent(provider, rentRequest());
    await untilServing(provider, id);
    const identity = readJson(id, 'process.json');
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${identity.pid}/stat`, 'utf8');
      const [, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      expect([group, session]).toEqual([String(identity.pid), String(identity.pid)]);
    }
    expect(await signalProcess(identity, 'SIGHUP')).toBe(true);
    await sleep(100);
    expect(await isAlive(identity.pid)).toBe(true);
  });
});
