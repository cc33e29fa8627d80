import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createExchange } from './exchange.ts';

const FIGURES = { pageWidth: 1, queueLimit: 1, pagesInFlight: 0, pagesQueued: 0 };
/** More than the buffers of the kernel take at once. */
const MEGABYTES = 64;

async function openExchange() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const call = request({ port: (server.address() as AddressInfo).port, agent: false });
  call.on('error', () => undefined);
  call.end();
  const [incoming, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  onTestFinished(async () => {
    call.destroy();
    server.close();
    await once(server, 'close');
  });
  const exchange = createExchange(incoming, response, {
    ...{ requestId: 'r', figures: () => FIGURES, leaving: () => false },
  });
  exchange.start(200, {});
  exchange.flush();
  const [body] = (await once(call, 'response')) as [IncomingMessage];
  return { exchange, response, body };
}

describe('waiting for a client', () => {
  test('many_waits_leave_nothing_behind', async () => {
    const { exchange, response, body } = await openExchange();
    const listeners = () => [response.listenerCount('drain'), response.listenerCount('close')];
    const before = listeners();
    const ending = new AbortController();
    let taken = 0;
    body.on('data', (chunk: Buffer) => {
      taken += chunk.length;
    });
    let waits = 0;
    for (let n = 0; n < MEGABYTES; n += 1) {
      exchange.write(Buffer.alloc(1_000_000));
      if (response.writableNeedDrain) waits += 1;
      await exchange.drained(ending.signal);
    }
    expect(waits).toBeGreaterThan(20);
    expect(listeners()).toEqual(before);
    exchange.end();
    await once(body, 'end');
    expect(taken).toBe(MEGABYTES * 1_000_000);
  });

  test('ends_when_the_signal_is_raised_and_when_the_client_leaves', async () => {
    const { exchange, response, body } = await openExchange();
    const ending = new AbortController();
    exchange.write(Buffer.alloc(MEGABYTES * 1_000_000));
    expect(response.writableNeedDrain).toBe(true);
    const stopped = exchange.drained(ending.signal);
    const gone = exchange.drained();
    ending.abort();
    await stopped;
    await exchange.drained(ending.signal);
    body.destroy();
    await gone;
    expect(exchange.signal.aborted).toBe(true);
  });
});
