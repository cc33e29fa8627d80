import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programPath, realNodeBinary, repoRoot } from '@pagefleet/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
import { whitePage } from '../load.ts';
import { leftInTheTable, type PretendedCloud, pretendedCloud } from '../pretended-cloud.ts';

/** One after the other on one cluster, in this order: from the rent to the ledger's line. */
describe('a rehearsal: pagefleet up --provider fake-runpod', () => {
  let cluster: TestCluster;
  let cloud: PretendedCloud;

  beforeAll(async () => {
    cluster = await startCluster(
      { pools: [{ name: 'ocr', min_pods: 1, max_pods: 2 }] },
      { provider: 'fake-runpod' },
    );
    cloud = pretendedCloud(cluster.stateDir);
  });
  afterAll(async () => {
    await cluster?.down();
  });

  test('rents_a_pod_at_a_price_and_reads_the_sample_with_it', async () => {
    await cluster.until('a pod serves', ({ summary }) => summary.pods_ready === 1);
    const read = await cluster.cli(['ocr', join(repoRoot(), 'docs/sample/scan.pdf')]);
    expect(read.code, read.stderr).toBe(0);
    expect(read.stdout).toContain('32 Track MIDI Sequence Recorder');
    const { pods, summary } = await cluster.status();
    expect(pods).toHaveLength(1);
    expect(pods[0]?.price_usd_per_hour).toBeGreaterThan(0);
    expect(summary.live_hourly_usd).toBe(pods[0]?.price_usd_per_hour);
    expect((await cloud.billing()).map(({ id }) => id)).toEqual([pods[0]?.id]);
  });

  test('the_spend_of_today_is_what_the_cloud_bills_R_051', async () => {
    const { summary } = await cluster.until('spend', (status) => status.summary.spend_today_usd > 0);
    const billed = await cloud.costUsd();
    expect(summary.spend_today_usd).toBeLessThanOrEqual(billed + 1e-6);
  });

  test('down_leaves_no_pod_in_the_clouds_table', async () => {
    const result = await cluster.cli(['down']);
    expect(result.code, result.stderr).toBe(0);
    expect(await leftInTheTable(cluster.stateDir)).toEqual([]);
    expect(cluster.pidsOf('pod')).toEqual([]);
  });
});

/** One after the other on one state directory. */
describe('Ctrl-C within a rent: what bills afterwards is said, and true (DESIGN 3, Stopping)', () => {
  let cluster: TestCluster;
  let cloud: PretendedCloud;

  beforeAll(async () => {
    const pools = [{ name: 'ocr', engine: 'sleep', sleep: '50ms', min_pods: 0, max_pods: 1 }];
    cluster = await startCluster({ pools, limits: { page_deadline: '20s' } }, { provider: 'fake-runpod' });
    cloud = pretendedCloud(cluster.stateDir);
    await cluster.cli(['down']);
  });
  afterAll(async () => {
    await cluster?.down();
  });

  /** `up` in the foreground, a page that makes it rent, and Ctrl-C once the cloud has the pod. */
  async function interruptRent(knobs: Record<string, unknown>) {
    const flags = ['--provider', 'fake-runpod', '--config', join(cluster.stateDir, '../pagefleet.yaml')];
    const up = spawn(realNodeBinary(), [programPath('cli'), 'up', ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    up.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = new Promise<number | null>((resolve) => up.once('close', resolve));
    await expect.poll(() => said, { timeout: 60_000 }).toContain('running; Ctrl-C');
    const before = (await cloud.all()).length;
    await cloud.nextCreates(1, knobs);
    const page = {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: new Uint8Array(await whitePage()),
    };
    const caller = new AbortController();
    void fetch(`${cluster.url}/v1/ocr`, { ...page, signal: caller.signal }).catch(() => null);
    await expect.poll(async () => (await cloud.all()).length, { timeout: 20_000 }).toBe(before + 1);
    caller.abort();
    up.kill('SIGINT');
    return { up, ended, said: () => said };
  }

  test('a_pod_whose_answer_was_lost_is_waited_for_and_ended', async () => {
    const { ended, said } = await interruptRent({ answer: 'created-then-cut', invisibleMs: 3_000 });
    expect(await ended, said()).toBe(0);
    expect(await leftInTheTable(cluster.stateDir)).toEqual([]);
  });

  test('one_that_nobody_can_see_is_named_by_the_second_Ctrl_C_as_what_may_bill', async () => {
    const { up, ended, said } = await interruptRent({
      answer: 'created-then-cut',
      invisibleMs: 3_600_000,
    });
    await expect.poll(said, { timeout: 30_000 }).toContain('1 pods left (renting)');
    // A press that comes at once may be the first one, passed on twice.
    await sleep(600);
    up.kill('SIGINT');
    expect(await ended, said()).not.toBe(0);
    const [pod] = await cloud.billing();
    expect(said()).toContain(`outcome is not known; they may still appear and bill:\n  ${pod?.request.name}`);
    // While it ends, the controller still looks for the pod, and would be the one to end it.
    await expect.poll(() => cluster.pidsOf('controller'), { timeout: 30_000 }).toEqual([]);
    await cloud.setPod(pod?.id ?? '', { invisibleMs: 0 });
    const down = await cluster.cli(['down']);
    expect(down.stderr).toContain(`ending pod ${pod?.request.name}`);
    expect(await leftInTheTable(cluster.stateDir)).toEqual([]);
  });
});
