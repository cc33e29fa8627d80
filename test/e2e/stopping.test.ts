import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterPaths, programPath, realNodeBinary } from '@pagefleet/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';

const SLEEPY = {
  pools: [{ name: 'ocr', engine: 'sleep', sleep: '100ms', width: 2, min_pods: 2, max_pods: 2 }],
  limits: { page_deadline: '20s' },
};

async function withTwoPods(): Promise<TestCluster> {
  const cluster = await startCluster(SLEEPY);
  await cluster.until('two pods serve', ({ summary }) => summary.pods_ready === 2);
  return cluster;
}

const podIds = async (cluster: TestCluster) => (await cluster.status()).pods.map((pod) => pod.id).sort();

/** One after the other on one cluster, in this order. */
describe('after a kill of supervisord (DESIGN 3, Stopping)', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await withTwoPods();
  });
  afterAll(async () => {
    await cluster?.down();
  });

  test('the_next_up_ends_its_leftovers_and_adopts_the_same_pods', async () => {
    const before = await podIds(cluster);
    const leftovers = [...cluster.pidsOf('workers'), ...cluster.pidsOf('nginx'), ...cluster.pidsOf('nats')];
    cluster.kill('supervisord', 'SIGKILL');
    const again = await cluster.up();
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toMatch(/ending \d+ processes that a killed supervisord left/);
    for (const pid of leftovers) expect(existsSync(`/proc/${pid}/cwd`)).toBe(false);
    await cluster.until('the same pods serve', ({ summary }) => summary.pods_ready === 2);
    expect(await podIds(cluster)).toEqual(before);
  });

  test('down_ends_the_pods_also_when_controller_and_supervisord_are_dead', async () => {
    const pods = cluster.pidsOf('pod');
    cluster.kill('supervisord', 'SIGKILL');
    cluster.kill('controller', 'SIGKILL');
    const result = await cluster.cli(['down']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toMatch(/ending pod/);
    for (const pid of pods) expect(existsSync(`/proc/${pid}/cwd`)).toBe(false);
    for (const program of ['nats', 'nginx', 'nginx-worker', 'workers', 'worker', 'backup'] as const) {
      expect(cluster.pidsOf(program), program).toEqual([]);
    }
  });
});

describe('with lost files (DESIGN 3, Stopping)', () => {
  let cluster: TestCluster;
  let group = '';
  afterAll(async () => {
    if (!cluster) return;
    writeFileSync(clusterPaths(cluster.stateDir).groupFile, group);
    await cluster.down();
  });

  test('up_names_them_and_down_ends_processes_and_pods_without', async () => {
    cluster = await withTwoPods();
    const paths = clusterPaths(cluster.stateDir);
    group = readFileSync(paths.groupFile, 'utf8');
    const processes = (['supervisord', 'nats', 'nginx', 'controller', 'workers', 'pod'] as const).flatMap(
      (program) => cluster.pidsOf(program),
    );
    expect(processes.length).toBeGreaterThanOrEqual(7);
    rmSync(paths.groupFile);
    writeFileSync(paths.clusterFile, '{');
    const up = await cluster.up();
    expect(up.code).not.toBe(0);
    expect(up.stderr).toMatch(/already runs.*group\.json and .*cluster\.json cannot be read/);
    const down = await cluster.cli(['down']);
    expect(down.code, down.stderr).toBe(0);
    expect(down.stderr).toContain(`${paths.clusterFile} cannot be read`);
    for (const pid of processes) expect(existsSync(`/proc/${pid}/cwd`), `${pid}: ${down.stderr}`).toBe(false);
  });
});

/** The signal is one that never arrives: a stopped nats-server takes no SIGTERM, as one does that waits for a full disk. */
describe('a program that does not answer (DESIGN 3, Stopping)', () => {
  let cluster: TestCluster;
  afterAll(async () => {
    await cluster?.down();
  });

  test('down_says_what_it_waits_for_and_goes_through', async () => {
    cluster = await withTwoPods();
    const [nats = 0] = cluster.kill('nats', 'SIGSTOP');
    const down = await cluster.cli(['down']);
    expect(down.code, down.stderr).toBe(0);
    expect(existsSync(`/proc/${nats}/cwd`)).toBe(false);
    expect(down.stderr).toMatch(/waiting for .*nats \(process \d+\)/);
  });
});

describe('after a signal to up (DESIGN 3, Stopping)', () => {
  let cluster: TestCluster;
  afterAll(async () => {
    await cluster?.down();
  });

  test('sigterm_to_up_keeps_the_pods_names_them_and_the_next_up_takes_them_over', async () => {
    cluster = await withTwoPods();
    const before = await podIds(cluster);
    expect((await cluster.cli(['down', '--keep-pods'])).stderr).toMatch(/2 pods kept, and billing/);
    const up = spawn(
      realNodeBinary(),
      [programPath('cli'), 'up', '--config', join(cluster.stateDir, '../pagefleet.yaml')],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    up.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toContain('running; Ctrl-C');
    await cluster.until('the same pods serve', ({ summary }) => summary.pods_ready === 2);
    expect(await podIds(cluster)).toEqual(before);
    up.kill('SIGTERM');
    const code = await new Promise((resolve) => up.once('close', resolve));
    expect(code).toBe(0);
    for (const id of before) expect(said.slice(said.indexOf('pods kept'))).toContain(id);
    expect(cluster.pidsOf('pod')).toHaveLength(2);
    await sleep(200);
    expect(cluster.pidsOf('supervisord')).toEqual([]);
  });
});
