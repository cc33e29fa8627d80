import { request } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../logger.ts';
import { podRoute, podTls } from '../pod/pod-transport.ts';
import { createHttpApp } from './create-http-app.ts';

const TOKEN = 'a1'.repeat(32);
const HANDSHAKE_MS = 200;
const apps: FastifyInstance[] = [];

afterEach(async () => {
  for (const app of apps.splice(0)) {
    app.server.closeAllConnections();
    await app.close();
  }
});

async function listen(): Promise<{ app: FastifyInstance; port: number }> {
  const tls = { ...podTls({ token: TOKEN, podKey: 'key' }), handshakeTimeout: HANDSHAKE_MS };
  const logger = createLogger({ component: 't', level: 'silent' });
  const app = createHttpApp({ name: 't', logger, tls });
  apps.push(app);
  app.get('/', async () => ({ ok: true }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: (app.server.address() as AddressInfo).port };
}

function ask(port: number, token: string): Promise<number | undefined> {
  const { allowH2: _, ...connect } = podRoute('psk://127.0.0.1:1', token).connect;
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent: false, ...connect }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

/** what came back until the other side closed */
async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  await new Promise((closed) => socket.once('close', closed));
  return Buffer.concat(chunks).toString('latin1');
}

describe('createHttpApp with TLS', () => {
  it('answers_whoever_has_the_key_and_nobody_else', async () => {
    const { app, port } = await listen();
    let requests = 0;
    app.server.on('request', () => {
      requests += 1;
    });
    expect(await ask(port, TOKEN)).toBe(200);
    await expect(ask(port, 'b2'.repeat(32))).rejects.toThrow();
    expect(requests).toBe(1);
  });

  it('plain_http_gets_no_answer_in_plain', async () => {
    const { port } = await listen();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await readAll(socket)).not.toContain('HTTP/');
  });

  it('a_connection_that_does_not_shake_hands_is_closed_at_the_deadline', async () => {
    const { app, port } = await listen();
    const silent = connect(port, '127.0.0.1');
    const slow = connect(port, '127.0.0.1');
    const closed = Promise.all([readAll(silent), readAll(slow)]);
    const trickle = (async () => {
      for (const byte of Buffer.from('16030100c8010000c40303', 'hex')) {
        if (slow.writable) slow.write(Buffer.of(byte));
        await sleep(HANDSHAKE_MS / 4);
      }
    })();
    const ended = await Promise.race([closed, sleep(10 * HANDSHAKE_MS, null)]);
    expect(ended).not.toBeNull();
    await trickle;
    const count = await new Promise((resolve) => app.server.getConnections((_, n) => resolve(n)));
    expect(count).toBe(0);
  });
});
