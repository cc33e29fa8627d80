import { join } from 'node:path';
import { repoRoot } from '@pagefleet/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
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
    await cluster.whole(1);
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
