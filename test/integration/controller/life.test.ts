import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { FleetStatus } from '@pagefleet/contract';
import { programPath } from '@pagefleet/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster, until } from './cluster-kit.ts';

/** One cluster for all of them, in order: each test leaves it with the one pod that the first rented. */
describe('the life of a controller (DESIGN 5, 10)', () => {
  let kit: TestCluster;
  let podId: string;

  beforeAll(async () => {
    kit = await startCluster({
      yaml: `
workers: 1
pools: [{ name: ocr, engine: sleep, sleep: 50ms, width: 2, min_pods: 1, max_pods: 1, boot_deadline: 90s }]
`,
    });
  }, 120_000);
  afterAll(() => kit[Symbol.asyncDispose](), 60_000);

  async function untilReady(): Promise<FleetStatus> {
    let status: FleetStatus | null = null;
    await until(async () => {
      status = await kit.status();
      return status.summary.pods_ready === 1;
    }, 'one pod is ready');
    return status as unknown as FleetStatus;
  }

  async function podIds(): Promise<string[]> {
    return (await kit.pods()).map((pod) => pod.id).sort();
  }

  test('the_floor_is_rented_probed_and_shown_with_its_money', async () => {
    const status = await untilReady();
    podId = status.pods[0]?.id ?? 'none';
    expect(await podIds()).toEqual([podId]);
    expect(status.pods[0]).toMatchObject({ state: 'serving', capacity: 2, engine: 'ready', warnings: [] });
    expect(status.pools[0]).toMatchObject({ effective_max_pods: 1, binding: 'max_pods', client_pods: null });
    const { summary } = status;
    expect(summary.live_hourly_usd).toBe(
      summary.live_hourly_serving_usd + summary.live_hourly_booting_usd + summary.live_hourly_quarantined_usd,
    );
  });

  test('neither_address_nor_key_of_a_pod_is_shown_to_who_reads_the_status', async () => {
    const [pod] = await kit.pods();
    const text = JSON.stringify(await kit.status());
    expect(text).not.toContain(new URL(pod?.url ?? '').port);
    expect(text).not.toContain(pod?.mark?.podKey);
  });

  test('a_second_controller_on_the_same_state_directory_is_refused_with_exit_1', async () => {
    const second = spawn(kit.cluster.nodeBinary, [programPath('controller')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PAGEFLEET_STATE: kit.cluster.stateDir },
    });
    let said = '';
    second.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const [code] = (await once(second, 'close')) as [number];
    expect(code).toBe(1);
    expect(said).toContain('another controller holds this state directory');
    expect((await kit.get('/healthz')).status).toBe(200);
  });

  test('after_kill_9_every_pod_is_held_again_and_none_is_rented_in_its_place', async () => {
    await kit.endController('SIGKILL');
    await kit.startController();
    const status = await untilReady();
    await until(async () => (await kit.status()).epoch === 2, 'the epoch is raised');
    expect(status.pods.map((pod) => pod.id)).toEqual([podId]);
    expect(await podIds()).toEqual([podId]);
  });

  test('a_lost_journal_and_a_lost_bus_are_rebuilt_from_secret_and_listing', async () => {
    await kit.endController('SIGKILL');
    rmSync(kit.paths.controllerDir, { recursive: true });
    await kit.nats.restart({ emptyState: true });
    await kit.startController();
    const status = await untilReady();
    // Ready means that the pod proved its token: it was made again from the secret and the listed mark.
    expect(status.pods.map((pod) => pod.id)).toEqual([podId]);
    expect(await podIds()).toEqual([podId]);
    expect(kit.log().match(/"event":"pod_adopted"/g)).toHaveLength(1);
  });

  test('sigterm_leaves_the_pods_running_and_says_what_bills', async () => {
    expect(await kit.endController('SIGTERM')).toBe(0);
    expect(await podIds()).toEqual([podId]);
    const lines = kit.log().split('\n');
    const line = lines.find((text) => text.includes('pods_left_running')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ pods: [{ pod: podId, state: 'serving' }], usdPerHour: 0 });
  });
});
