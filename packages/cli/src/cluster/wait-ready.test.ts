import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterFile } from '@pagefleet/contract';
import { freePorts, observeProcess } from '@pagefleet/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeStateDir } from './state-dir.ts';
import { waitReady } from './wait-ready.ts';

let folder: string;
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pf-ready-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  rmSync(folder, { recursive: true });
});

async function serve(answer: (path: string) => object, port = 0): Promise<number> {
  const server = createServer((request, response) => response.end(JSON.stringify(answer(request.url ?? ''))));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A state directory whose supervisord is this process. */
async function cluster(ports: { nginx: number; controller: number }) {
  const paths = makeStateDir(join(folder, 'state'));
  writeFileSync(paths.groupFile, JSON.stringify(await observeProcess(process.pid)));
  writeFileSync(paths.operatorTokenFile, 'token');
  const file = {
    operatorTokenFile: paths.operatorTokenFile,
    config: { workers: 1, listen: { host: '127.0.0.1', port: ports.nginx } },
    ports: { controller: ports.controller },
  } as ClusterFile;
  return { paths, file };
}

test('nginx_is_asked_only_when_what_stands_behind_it_is_there', async () => {
  const events: string[] = [];
  let looks = 0;
  const [controller = 0] = await freePorts(1);
  const nginx = await serve((path) => {
    events.push(`nginx ${path}`);
    return {};
  });
  const { paths, file } = await cluster({ nginx, controller });
  const ready = waitReady(paths, file, { say: () => undefined, signal: new AbortController().signal });
  setTimeout(() => {
    void serve(() => {
      looks += 1;
      const state = looks > 2 ? 'listening' : 'starting';
      events.push(state);
      return { workers: [{ worker: 0, state }] };
    }, controller);
  }, 300);
  await ready;
  expect(events).toEqual(['starting', 'starting', 'listening', 'nginx /healthz']);
});
