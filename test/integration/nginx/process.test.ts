import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { repoRoot } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { pooled, post } from './post.ts';
import { type RunningNginx, startNginx } from './start-nginx.ts';
import { answerSize, startUpstream } from './upstream.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

async function front(delayMs = 0): Promise<RunningNginx> {
  const upstream = await startUpstream((request, response) => {
    setTimeout(() => answerSize(request, response), delayMs);
  });
  const { port } = upstream;
  const running = await startNginx({ workers: [port], backup: port, controller: port });
  open.push(upstream, { close: () => running.stop() });
  return running;
}

/** nginx processes whose working folder is this one's. */
function processesOf({ nginxDir }: RunningNginx): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const isNginx = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'nginx';
      return isNginx &&
        statSync(`/proc/${pid}/cwd/control.sock`).ino === statSync(join(nginxDir, 'control.sock')).ino
        ? [Number(pid)]
        : [];
    } catch {
      return [];
    }
  });
}

describe('the nginx process', () => {
  test('large_bodies_both_ways_touch_no_disk', async () => {
    const running = await front();
    const answer = await post(`${running.url}/v1/ocr`, Buffer.alloc(20_000_000));
    expect(JSON.parse(answer.text)).toMatchObject({ size: 20_000_000 });
    for (const kind of readdirSync(join(running.nginxDir, 'tmp'))) {
      expect(readdirSync(join(running.nginxDir, 'tmp', kind))).toEqual([]);
    }
    expect(running.log()).not.toMatch(/\[(error|crit|alert|emerg)\]/);
  });

  test('processes_that_end_while_it_looks_for_leftovers_are_no_word_in_its_log', async () => {
    const script = join(repoRoot(), 'supervisord', 'run-nginx.sh');
    const folder = mkdtempSync(join(tmpdir(), 'pf-run-nginx-'));
    const looks = 'n=0; while [ $n -lt 25 ]; do /bin/sh "$0" "$1" /bin/true; n=$((n + 1)); done';
    const churn = spawn('/bin/sh', ['-c', 'while :; do /bin/true & /bin/true & /bin/true; done'], {
      detached: true,
      stdio: 'ignore',
    });
    try {
      const looking = spawn('/bin/sh', ['-c', looks, script, folder], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      expect(await text(looking.stderr)).toBe('');
    } finally {
      process.kill(-(churn.pid ?? 0), 'SIGKILL');
      rmSync(folder, { recursive: true });
    }
  });

  test('its_workers_are_unprivileged_when_it_is_started_as_root', async () => {
    const running = await front();
    const wanted = process.getuid?.() === 0 ? 65_534 : process.getuid?.();
    // A worker is forked first and gives its rights up then.
    const uids = () => {
      const workers = processesOf(running).filter((pid) => pid !== running.master().pid);
      return new Set(
        workers.map((pid) => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])),
      );
    };
    await expect.poll(uids).toEqual(new Set([wanted]));
  });

  test('after_its_master_was_killed_a_new_one_takes_over_and_no_request_is_lost_for_long', async () => {
    const running = await front(20);
    const agent = pooled(20);
    const outcomes: string[] = [];
    let going = true;
    const client = async (): Promise<void> => {
      while (going) {
        const outcome = await post(`${running.url}/v1/ocr`, Buffer.alloc(1_000), { agent }).then(
          ({ status }) => String(status),
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        );
        outcomes.push(outcome);
      }
    };
    const clients = Array.from({ length: 20 }, client);
    await sleep(300);
    const before = processesOf(running);
    running.master().kill('SIGKILL');
    await sleep(300);
    await running.restart();
    await sleep(1_500);
    going = false;
    await Promise.all(clients);
    agent.destroy();
    const failed = outcomes.filter((outcome) => outcome !== '200');
    expect(failed.length, failed.join()).toBeLessThanOrEqual(20);
    expect(outcomes.length).toBeGreaterThan(500);
    expect(processesOf(running).some((pid) => before.includes(pid))).toBe(false);
  });
});
