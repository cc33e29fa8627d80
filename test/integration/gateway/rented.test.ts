import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { POD_SETTINGS_VERSION } from '@pagefleet/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, sleepPage, startGateway, TOKEN, until } from './gateway-process.ts';

const KEY = 'rpa_pod_scoped_secret';
const started: GatewayProcess[] = [];
const servers: Server[] = [];
const start = (...options: Parameters<typeof startGateway>): GatewayProcess => {
  const gateway = startGateway(...options);
  started.push(gateway);
  return gateway;
};
afterAll(async () => {
  for (const gateway of started) await gateway.end();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** The two APIs of a provider, which accept the end of a pod and carry it out when they are told. */
async function provider() {
  const calls: string[] = [];
  let gone = false;
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    request.resume();
    if (request.url === '/graphql') response.end('{"errors":[{"message":"pod not found to terminate"}]}');
    else response.writeHead(gone ? 404 : 204).end();
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: { removal: 'runpod', apiUrl: `${base}/v2`, graphqlUrl: `${base}/graphql` } as const,
    calls,
    finish() {
      gone = true;
    },
  };
}

/** A container has no folder of ours, and its id comes from the provider. */
const CONTAINER = { portFile: '', podId: null } as const;
/** An address of the machine that no other run uses, since a port may be a fixed one here. */
const ownAddress = () => `127.${[1, 2, 3].map(() => 1 + Math.floor(Math.random() * 250)).join('.')}`;

describe('a gateway in a rented pod', { concurrent: true }, () => {
  it('that_nobody_ever_speaks_to_takes_no_page_any_more_and_asks_to_be_removed_until_it_is (R-044)', async () => {
    const { settings, calls, finish } = await provider();
    const gateway = start({
      settings: { ...CONTAINER, ...settings, host: ownAddress(), deadManMs: 1_500 },
      env: { RUNPOD_POD_ID: 'abc123', RUNPOD_API_KEY: KEY },
    });
    await until(() => calls.length >= 2, 'it asks again');
    expect(calls[0]).toBe(`DELETE /v2/pods/abc123 Bearer ${KEY}`);
    expect(gateway.child.exitCode).toBeNull();
    expect((await gateway.read('late', sleepPage(1))).body).toContain('stopping');
    finish();
    expect((await gateway.exited).code).toBe(0);
    expect(calls.at(-1)).toBe(`POST /graphql Bearer ${KEY}`);
    expect(gateway.events('dead_man')).toHaveLength(1);
    expect(readFileSync(join(gateway.dir, 'log'), 'utf8')).not.toContain(KEY);
  });

  it('that_its_owner_ends_finishes_its_pages_and_is_removed_too (R-044)', async () => {
    const { settings, calls, finish } = await provider();
    finish();
    const gateway = start({ settings, env: { RUNPOD_API_KEY: KEY } });
    const page = gateway.read('page-1', sleepPage(4_000));
    await until(() => gateway.events('page_started').length === 1, 'the page runs');
    await gateway.ask('POST', '/v1/shutdown', { authorization: `Bearer ${TOKEN}` });
    await sleep(200);
    expect(calls).toEqual([]);
    expect((await page).status).toBe(200);
    expect((await gateway.exited).code).toBe(0);
    expect(calls).toHaveLength(2);
  });

  it('a_signal_still_ends_it_while_the_provider_does_not', async () => {
    const { settings, calls } = await provider();
    const gateway = start({
      settings: { ...settings, deadManMs: 1_000 },
      env: { RUNPOD_API_KEY: KEY },
    });
    await until(() => calls.length > 0, 'it asks');
    gateway.child.kill('SIGTERM');
    expect((await gateway.exited).code).toBe(0);
  });

  it('that_was_given_no_key_goes_on_serving_and_its_health_says_so (R-044)', async () => {
    const { settings, calls } = await provider();
    const gateway = start({ settings: { ...settings, deadManMs: 1_000 } });
    await until(() => gateway.events('pod_cannot_remove_itself').length === 1, 'it says so');
    expect((await gateway.ask('GET', '/healthz')).body.warnings).toEqual([
      expect.stringContaining('RUNPOD_API_KEY'),
    ]);
    expect((await gateway.read('page-1', sleepPage(1))).status).toBe(200);
    expect(calls).toEqual([]);
  });

  it('finds_its_id_and_its_port_and_reports_what_it_runs_with (R-042, R-045)', async () => {
    const host = ownAddress();
    const gateway = start({
      settings: { ...CONTAINER, host },
      env: { RUNPOD_POD_ID: 'abc123', PAGEFLEET_POD_TURBO: '1' },
    });
    expect(await gateway.port()).toBe(8_000);
    const { body } = await gateway.ask('GET', '/healthz');
    expect(body).toMatchObject({
      podId: 'abc123',
      settingsVersion: POD_SETTINGS_VERSION,
      unknownSettings: ['PAGEFLEET_POD_TURBO'],
      settings: { host, port: 8_000, width: 2, transport: 'plain', removal: 'exit' },
    });
    expect(JSON.stringify(body)).not.toContain(TOKEN);
  });
});

describe('a gateway that speaks TLS with its key (DESIGN 5)', () => {
  it('reads_pages_for_its_owner_whatever_comes_at_once', async () => {
    const gateway = start({ settings: { transport: 'tls-psk', width: 64 } });
    await gateway.port();
    const pages = Array.from({ length: 100 }, (_, n) => gateway.read(`page-${n}`, sleepPage(50)));
    for (const { status } of await Promise.all(pages)) expect(status).toBe(200);
    expect((await gateway.ask('GET', '/healthz')).body.settings).toMatchObject({ transport: 'tls-psk' });
  });

  it('says_nothing_to_who_has_no_key', async () => {
    const gateway = start({ settings: { transport: 'tls-psk' } });
    const socket = connect(await gateway.port(), '127.0.0.1');
    socket.end(`GET /healthz HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
    let heard = '';
    for await (const chunk of socket) heard += chunk;
    expect(heard).not.toMatch(/HTTP|pagefleet/);
  });
});
