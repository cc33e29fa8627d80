import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster, until } from './cluster-kit.ts';
import { type FakeGroup, type FakeWorker, startFakeGroup, widthOf } from './fake-workers.ts';

/** Two pods of width 2, two workers, in this order: each test leaves the workers idle (DESIGN 6, L9). */
describe('slices', () => {
  let kit: TestCluster;
  let group: FakeGroup;
  let a: FakeWorker;
  let b: FakeWorker;

  beforeAll(async () => {
    kit = await startCluster({
      yaml: `
workers: 2
limits: { max_in_flight: 9, memory: 101MB }
pools: [{ name: ocr, engine: sleep, sleep: 50ms, width: 2, min_pods: 2, max_pods: 2, boot_deadline: 90s }]
`,
    });
    await until(async () => (await kit.status()).summary.pods_ready === 2, 'both pods are ready', 110_000);
    group = await startFakeGroup(kit, { group: 'workers', bootIds: ['aa', 'bb'] });
    [a, b] = group.workers as [FakeWorker, FakeWorker];
  }, 120_000);
  afterAll(async () => {
    await group[Symbol.asyncDispose]();
    await kit[Symbol.asyncDispose]();
  }, 60_000);

  const untilWidths = (wa: number, wb: number) =>
    until(
      () => widthOf(a) === wa && widthOf(b) === wb,
      `widths ${wa} and ${wb}, not ${widthOf(a)} and ${widthOf(b)}`,
    );

  test('each_worker_has_a_balanced_part_of_every_pods_width_with_the_pods_token', async () => {
    await untilWidths(2, 2);
    const pods = await kit.pods();
    for (const worker of [a, b]) {
      for (const pod of worker.slice()?.pods ?? []) {
        const listed = pods.find((one) => one.id === pod.id);
        expect(pod.url).toBe(listed?.url);
        expect(pod.mode).toBe('serve');
      }
    }
    const tokens = new Set([a, b].flatMap((worker) => (worker.slice()?.pods ?? []).map((pod) => pod.token)));
    expect(tokens.size).toBe(2);
  });

  test('each_worker_gets_its_share_of_every_ceiling_rounded_up (R-007)', () => {
    expect(a.slice()?.limits).toMatchObject({ maxInFlight: 5, maxMemoryBytes: 50_500_000 });
    expect(b.slice()?.limits).toEqual(a.slice()?.limits);
  });

  test('idle_width_is_lent_to_who_waits_within_250_ms_and_comes_back', async () => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const startedMs = performance.now();
      a.setDemand({ waiting: 4, oldestWaitMs: 5 });
      await until(() => widthOf(a) === 4, 'the other’s width is lent');
      times.push(a.sliceAtMs() - startedMs);
      a.setDemand({});
      b.setDemand({ waiting: 2, oldestWaitMs: 5 });
      await untilWidths(2, 2);
      b.setDemand({});
    }
    const median = times.toSorted((x, y) => x - y)[2] ?? Number.POSITIVE_INFINITY;
    expect(median).toBeLessThan(250);
  });

  test('width_in_use_is_not_lent_and_the_sum_never_exceeds_the_pods', async () => {
    const [pod] = b.slice()?.pods ?? [];
    b.setInflight({ [pod?.id ?? '']: 1 });
    b.setDemand({ inflight: 1 });
    a.setDemand({ waiting: 4, oldestWaitMs: 5 });
    await until(() => widthOf(a) === 3, 'all but the width in use is lent');
    expect(widthOf(a) + widthOf(b)).toBeLessThanOrEqual(4);
    b.setInflight({});
    b.setDemand({});
    await until(() => widthOf(a) === 4, 'the rest follows');
    a.setDemand({});
    b.setDemand({ waiting: 2, oldestWaitMs: 5 });
    await untilWidths(2, 2);
    b.setDemand({});
  });

  test('a_nats_server_that_lost_everything_gets_the_slices_again', async () => {
    const before = a.slice();
    await kit.nats.restart({ emptyState: true });
    await until(() => (a.slice()?.rev ?? 0) > (before?.rev ?? 0), 'a newer slice comes');
    await untilWidths(2, 2);
    expect(a.slice()?.epoch).toBe(before?.epoch);
  });

  test('after_kill_9_of_the_controller_workers_keep_what_they_hold_and_then_follow_the_new_epoch', async () => {
    await kit.endController('SIGKILL');
    expect(widthOf(a)).toBe(2);
    await kit.startController();
    await until(() => (a.slice()?.epoch ?? 0) === 2 && (b.slice()?.epoch ?? 0) === 2, 'both follow');
    await untilWidths(2, 2);
  });

  test('the_backup_gets_width_only_when_every_worker_is_proven_gone', async () => {
    const backupWidth = async () =>
      (await kit.status()).workers.find((worker) => worker.worker === -1)?.width ?? 0;
    await until(
      async () => (await kit.status()).workers.some((one) => one.worker === -1 && one.state === 'listening'),
      'the backup listens',
    );
    a.hang();
    b.hang();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await backupWidth()).toBe(0);
    a.setState('exited');
    b.setState('exited');
    await until(async () => (await backupWidth()) === 4, 'the backup has all the width');
  });
});
