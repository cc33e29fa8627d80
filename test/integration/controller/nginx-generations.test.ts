import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyGeneration, askGeneration, type GenerationOptions, runNginx } from '@pagefleet/controller';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/** Real nginx, real reloads: R-004. */
let folder: string;
let nginx: ChildProcess | null = null;
const servers: Server[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gen-'));
  await mkdir(join(folder, 'tmp'));
  await writeFile(join(folder, 'nginx.conf'), mainFile());
});
afterEach(async () => {
  if (nginx !== null && nginx.exitCode === null) {
    const gone = once(nginx, 'exit');
    nginx.kill('SIGTERM');
    await gone;
  }
  nginx = null;
  for (const server of servers.splice(0)) server.close();
  await rm(folder, { recursive: true, force: true });
});

function mainFile(): string {
  return `
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
worker_processes 1;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp/body;
  proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/fastcgi;
  uwsgi_temp_path ${folder}/tmp/uwsgi;
  scgi_temp_path ${folder}/tmp/scgi;
  include ${folder}/current/upstream.conf;
  server {
    listen unix:${folder}/control.sock;
    include ${folder}/current/locations.conf;
    location / { proxy_pass http://pages; }
  }
}
`;
}

function options(extra: Partial<GenerationOptions> = {}): GenerationOptions {
  return {
    folder,
    render: (ports, generation) => ({
      'upstream.conf': `upstream pages { ${ports.map((port) => `server 127.0.0.1:${port};`).join(' ')} }\n`,
      'locations.conf': `location = /.pagefleet/generation { return 200 "${generation}\\n"; }\n`,
    }),
    run: (args) => runNginx('nginx', args),
    ask: () => askGeneration(join(folder, 'control.sock'), 1_000),
    confirmTimeoutMs: 3_000,
    ...extra,
  };
}

async function worker(name: string): Promise<number> {
  const server = createServer((_request, response) => response.end(name));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function startNginx(): Promise<void> {
  nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  for (let tries = 0; tries < 60; tries += 1) {
    if ((await askGeneration(join(folder, 'control.sock'), 500)) !== null) return;
    await sleep(50);
  }
  throw new Error('nginx did not start');
}

describe('nginx generations (R-004)', () => {
  test('the_first_generation_waits_for_nginx_and_is_what_it_starts_with', async () => {
    const outcome = await applyGeneration([await worker('a')], options());
    expect(outcome).toEqual({ kind: 'waiting_for_nginx', generation: 1 });
    await startNginx();
    expect(await options().ask()).toBe(1);
  });

  test('a_new_set_of_workers_is_swapped_in_and_counts_when_nginx_answers_its_number', async () => {
    const first = await worker('a');
    await applyGeneration([first], options());
    await startNginx();
    const outcome = await applyGeneration([first, await worker('b')], options());
    expect(outcome).toEqual({ kind: 'swapped', generation: 2 });
    // A worker of nginx that leaves may still take a connection or two.
    await expect.poll(() => options().ask()).toBe(2);
    expect(await readlink(join(folder, 'current'))).toBe('gen-2');
  });

  test('the_same_set_of_workers_causes_no_reload', async () => {
    const port = await worker('a');
    await applyGeneration([port], options());
    await startNginx();
    const calls: string[] = [];
    const spied = options({
      run: (args) => {
        calls.push(args.join(' '));
        return runNginx('nginx', args);
      },
    });
    expect(await applyGeneration([port], spied)).toEqual({ kind: 'unchanged' });
    expect(calls).toEqual([]);
  });

  test('a_candidate_that_nginx_refuses_never_replaces_the_good_one', async () => {
    const port = await worker('a');
    await applyGeneration([port], options());
    await startNginx();
    const bad = options({
      render: () => ({ 'upstream.conf': 'upstream pages { nonsense; }', 'locations.conf': '' }),
    });
    const outcome = await applyGeneration([port, 1], bad);
    expect(outcome).toMatchObject({ kind: 'refused', detail: expect.stringContaining('nonsense') });
    expect(await readlink(join(folder, 'current'))).toBe('gen-1');
    expect(await options().ask()).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith('gen-'))).toEqual(['gen-1']);
  });

  test('a_swap_that_nginx_never_confirms_is_taken_back', async () => {
    const port = await worker('a');
    await applyGeneration([port], options());
    await startNginx();
    const deaf = options({
      run: (args) => (args.includes('reload') ? Promise.resolve({ kind: 'ok' }) : runNginx('nginx', args)),
      confirmTimeoutMs: 300,
    });
    expect(await applyGeneration([port, await worker('b')], deaf)).toMatchObject({ kind: 'refused' });
    expect(await readlink(join(folder, 'current'))).toBe('gen-1');
  });

  test('only_the_generation_in_force_and_the_one_before_are_kept', async () => {
    const ports = [await worker('a')];
    await applyGeneration(ports, options());
    await startNginx();
    for (const name of ['b', 'c', 'd']) {
      ports.push(await worker(name));
      expect(await applyGeneration(ports, options())).toMatchObject({ kind: 'swapped' });
    }
    expect((await readdir(folder)).filter((name) => name.startsWith('gen-')).sort()).toEqual([
      'gen-3',
      'gen-4',
    ]);
  });
});
