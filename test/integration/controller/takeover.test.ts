import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectBus, createLogger } from '@pagefleet/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster, until } from './cluster-kit.ts';

describe('one controller in charge', () => {
  let kit: TestCluster;

  beforeAll(async () => {
    kit = await startCluster({
      start: false,
      yaml: `
workers: 0
pools: [{ name: ocr, engine: sleep, sleep: 20ms, width: 1, min_pods: 2, max_pods: 2, boot_deadline: 90s }]
`,
    });
  }, 60_000);
  afterAll(() => kit[Symbol.asyncDispose](), 60_000);

  async function bus() {
    const { natsUrl, natsCredentialsFile } = kit.cluster;
    const logger = createLogger({ component: 'test', level: 'error' });
    return connectBus({ url: natsUrl, credentialsFile: natsCredentialsFile, name: 'test', logger });
  }

  test('killed_at_any_moment_of_renting_it_never_holds_or_leaves_more_pods_than_the_cap', async () => {
    // Spread over start, listing, intent, paid call, outcome and boot.
    for (const afterMs of [0, 120, 400]) {
      await kit.startController();
      await until(async () => (await kit.status().catch(() => null))?.epoch !== 0, 'in charge').catch(
        () => undefined,
      );
      await sleep(afterMs);
      await kit.endController('SIGKILL');
      expect((await kit.pods()).length).toBeLessThanOrEqual(2);
    }
    await kit.startController();
    await until(async () => {
      const { pods } = await kit.status();
      const existing = await kit.pods();
      expect(existing.length).toBeLessThanOrEqual(2);
      return existing.length > 0 && existing.every((pod) => pods.some((held) => held.id === pod.id));
    }, 'every pod of the account is held');
  }, 170_000);

  test('one_that_is_deposed_stops_says_so_and_ends_leaving_the_pods', async () => {
    await until(async () => (await kit.status()).summary.pods_ready > 0, 'a pod serves');
    const before = (await kit.pods()).map((pod) => pod.id);
    const other = await bus();
    const bucket = other.bucket('control');
    await until(() => other.connected(), 'the bus is there');
    const held = await bucket.get('epoch');
    const newer = {
      v: 1,
      epoch: (held?.value.epoch ?? 0) + 1,
      controllerId: 'another',
      atMs: Date.now(),
    } as const;
    const gone = once(kit.controller, 'exit');
    expect((await bucket.write('epoch', newer, held?.revision ?? 0)).kind).toBe('written');
    const [code] = (await gone) as [number];
    await other.close();
    expect(code).toBe(1);
    expect(kit.log()).toContain('controller_deposed');
    const left = (await kit.pods()).map((pod) => pod.id);
    expect(left).toEqual(expect.arrayContaining(before));
    await sleep(1_000);
    expect((await kit.pods()).map((pod) => pod.id)).toEqual(left);
  });

  test('down_ends_every_pod_and_tells_how_it_goes', async () => {
    await kit.startController();
    await until(async () => (await kit.status()).summary.pods_ready > 0, 'a pod serves');
    const answer = await kit.post(
      '/v1/fleet/down',
      { keep_pods: false },
      { authorization: `Bearer ${kit.operatorToken}` },
    );
    const lines = (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines[0]?.type).toBe('progress');
    expect(lines.at(-1)).toMatchObject({ type: 'done', remaining: [], live_hourly_usd: 0 });
    expect(await kit.pods()).toEqual([]);
    await sleep(1_500);
    expect(await kit.pods()).toEqual([]);
  });
});
