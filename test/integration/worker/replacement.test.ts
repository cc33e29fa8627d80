import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Load, startLoad } from '../../load.ts';
import { startFakePod } from '../dataplane/fake-pod.ts';
import { PNG } from '../dataplane/pictures.ts';
import { startNginx } from '../nginx/start-nginx.ts';
import { type Group, podOf, startGroup } from './rig.ts';

async function groupBehindNginx(
  ms: number,
  until?: Promise<unknown>,
): Promise<{ group: Group; url: string }> {
  const pod = await startFakePod({ kind: 'read', ms, until });
  const group = await startGroup({ workers: 2, pods: [podOf(pod.url, 200)] });
  const { ports } = group.cluster;
  const nginx = await startNginx({
    workers: ports.workers,
    backup: ports.backup,
    controller: ports.controller,
  });
  onTestFinished(async () => {
    await nginx.stop();
    await pod.close();
  });
  await group.serving(2);
  return { group, url: `${nginx.url}/v1/ocr` };
}

function load(url: string, concurrency: number): Load {
  return startLoad({ url, body: PNG, contentType: 'image/png', concurrency });
}

const failed = (shots: readonly { ok: boolean }[]) => shots.filter((shot) => !shot.ok);

describe('replacing workers while pages run (R-008, DESIGN 3)', () => {
  test('a_sighup_replaces_every_worker_and_no_request_fails', { timeout: 240_000 }, async () => {
    const { group, url } = await groupBehindNginx(20);
    const running = load(url, 8);
    const before = new Set(group.bootIds());
    process.kill(group.primary.pid, 'SIGHUP');
    await expect
      .poll(() => group.bootIds().filter((bootId) => !before.has(bootId)).length, { timeout: 90_000 })
      .toBe(2);
    await sleep(500);
    const shots = await running.stop();
    expect(failed(shots)).toEqual([]);
    expect(shots.length).toBeGreaterThan(100);
    await expect
      .poll(() => group.roster()?.workers.filter(({ state }) => state === 'exited').length, {
        timeout: 60_000,
      })
      .toBe(2);
  });

  test('a_killed_worker_loses_only_what_was_open_in_it_and_comes_back', { timeout: 240_000 }, async () => {
    const { group, url } = await groupBehindNginx(100);
    const running = load(url, 6);
    await expect.poll(() => running.shots.length, { timeout: 20_000 }).toBeGreaterThan(20);
    const victim = group.roster()?.workers[0];
    const open = running.open();
    process.kill(victim?.pid ?? 0, 'SIGKILL');
    const others = () => group.bootIds().filter((bootId) => bootId !== victim?.bootId);
    await expect.poll(() => others().length, { timeout: 90_000 }).toBe(2);
    await sleep(300);
    const lost = failed(await running.stop());
    expect(lost.length).toBeLessThanOrEqual(open);
    for (const shot of lost) expect(shot).toMatchObject({ retryable: true });
    expect(group.roster()?.workers).toContainEqual(
      expect.objectContaining({ bootId: victim?.bootId, state: 'exited' }),
    );
  });

  test('workers_outlive_a_killed_primary_and_the_next_one_takes_their_ports', {
    timeout: 240_000,
  }, async () => {
    const seen = Promise.withResolvers<void>();
    const { group } = await groupBehindNginx(0, seen.promise);
    const orphans = group.bootIds();
    const open = [0, 1].map((n) => fetch(`${group.url(n)}/v1/ocr`, { method: 'POST', body: PNG }));
    await sleep(500);
    process.kill(group.primary.pid, 'SIGKILL');
    group.startPrimary();
    const states = () =>
      group
        .roster()
        ?.workers.filter(({ bootId }) => orphans.includes(bootId))
        .map(({ state }) => state);
    const isOrphanSeen = () =>
      group.rosters.some(({ workers }) =>
        workers.some(({ bootId, state }) => bootId === orphans[0] && state === 'orphan'),
      );
    await expect.poll(isOrphanSeen, { timeout: 60_000 }).toBe(true);
    seen.resolve();
    for (const answer of await Promise.all(open)) expect(answer.status).toBe(200);
    const successors = () => group.bootIds().filter((bootId) => !orphans.includes(bootId));
    await expect.poll(() => successors().length, { timeout: 90_000 }).toBe(2);
    await expect.poll(states, { timeout: 60_000 }).toEqual(['exited', 'exited']);
    const after = await fetch(`${group.url(0)}/v1/ocr`, { method: 'POST', body: PNG });
    expect(after.status).toBe(200);
  });

  test('without_nats_workers_go_on_with_the_slice_they_hold', { timeout: 240_000 }, async () => {
    const { group, url } = await groupBehindNginx(10);
    await group.nats.kill('SIGKILL');
    const running = load(url, 4);
    await sleep(2_000);
    const shots = await running.stop();
    expect(failed(shots)).toEqual([]);
    expect(shots.length).toBeGreaterThan(10);
    const seen = Math.max(...group.allReports.map((report) => report.seq));
    await group.nats.restart();
    await expect
      .poll(() => Math.max(...group.allReports.map((report) => report.seq)), { timeout: 60_000 })
      .toBeGreaterThan(seen);
  });

  test('a_stopped_group_finishes_its_pages_first', { timeout: 240_000 }, async () => {
    const { group } = await groupBehindNginx(1_500);
    const open = fetch(`${group.url(0)}/v1/ocr`, { method: 'POST', body: PNG });
    await sleep(400);
    process.kill(group.primary.pid, 'SIGTERM');
    expect((await open).status).toBe(200);
    await expect.poll(() => isAlive(group.primary.pid), { timeout: 90_000 }).toBe(false);
    expect(group.roster()?.workers.map(({ state }) => state)).toEqual(['exited', 'exited']);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
