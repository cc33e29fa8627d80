import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiCall } from './api-call.ts';
import { openHttp } from './open-http.ts';

const CALL: ApiCall = {
  operation: 'create',
  method: 'POST',
  path: '/pods?x=1',
  body: { a: 1 },
  timeoutMs: 2_000,
};

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    seen.push({ url: request.url, headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const http = openHttp('pagefleet/test');
  onTestFinished(async () => {
    await http.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`;
  return { seen, server, send: http.raw(url) };
}

describe('a call over HTTP', () => {
  it('names_its_sender_sends_JSON_and_brings_back_what_was_answered', async () => {
    const { send, seen } = await serve((_request, response) => {
      response
        .writeHead(429, { 'Retry-After': '12', 'content-type': 'application/json' })
        .end('{"retryAfter":12}');
    });
    const answer = await send({ ...CALL, headers: { authorization: 'Bearer k' } });
    expect(answer).toMatchObject({ kind: 'answered', status: 429, body: { retryAfter: 12 } });
    expect(answer.kind === 'answered' && answer.header('retry-after')).toBe('12');
    expect(seen[0]).toMatchObject({
      url: '/v2/pods?x=1',
      headers: {
        'user-agent': 'pagefleet/test',
        'content-type': 'application/json',
        authorization: 'Bearer k',
      },
    });
  });

  it('brings_back_a_page_that_is_no_JSON', async () => {
    const { send } = await serve((_request, response) => void response.writeHead(502).end('<html>'));
    expect(await send(CALL)).toMatchObject({
      kind: 'answered',
      status: 502,
      body: undefined,
      text: '<html>',
    });
  });

  it('has_a_connection_of_its_own_so_that_none_is_lost_on_one_that_is_being_closed', async () => {
    const { send, seen } = await serve((_request, response) => void response.end('{}'));
    await send(CALL);
    await send(CALL);
    expect(seen.map(({ headers }) => headers.connection)).toEqual(['close', 'close']);
  });

  it('is_not_sent_when_nobody_listens_and_lost_when_the_answer_breaks_off_or_is_late', async () => {
    const { send, server } = await serve((request, response) => {
      if (request.headers.mode === 'cut') return request.socket.destroy();
      if (request.headers.mode === 'part') {
        response.writeHead(200, { 'content-length': '100' }).write('{"pods":[');
        setTimeout(() => request.socket.destroy(), 20);
      }
    });
    for (const mode of ['cut', 'part'])
      expect((await send({ ...CALL, headers: { mode } })).kind).toBe('lost');
    expect((await send({ ...CALL, timeoutMs: 50 })).kind).toBe('lost');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect((await send(CALL)).kind).toBe('not-sent');
  });
});
