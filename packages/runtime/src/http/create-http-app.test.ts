import { once } from 'node:events';
import { connect } from 'node:net';
import { PagefleetError } from '@pagefleet/contract';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../logger.ts';
import { createHttpApp } from './create-http-app.ts';
import { startingGate } from './starting-gate.ts';

const lines: string[] = [];
const logger = createLogger({
  component: 't',
  level: 'info',
  destination: { write: (line) => lines.push(line) },
});
const apps: FastifyInstance[] = [];
afterEach(async () => {
  lines.length = 0;
  for (const app of apps.splice(0)) await app.close();
});

function makeApp(): FastifyInstance {
  const app = createHttpApp({ name: 't', logger, bodyLimitBytes: 1_000 });
  apps.push(app);
  return app;
}

function addRoutes(app: FastifyInstance): FastifyInstance {
  const body = {
    type: 'object',
    additionalProperties: false,
    required: ['max_pods'],
    properties: {
      max_pods: { type: 'integer' },
      pool: { type: 'object', properties: { n: { type: 'integer' } } },
    },
  };
  app.post('/scale', { schema: { body } }, async (request) => request.body);
  app.get('/things/:id', async () => ({ ok: true }));
  app.put('/things/:id', async () => ({ ok: true }));
  app.get('/full', async () => {
    throw new PagefleetError('queue_full', 'Full.', { details: { retryAfterSeconds: 7, in_flight: 3 } });
  });
  app.get('/away', async () => {
    throw new PagefleetError('bus_unavailable', 'NATS does not answer.');
  });
  app.get('/bug', async () => {
    throw new TypeError('secret inner detail at 10.0.0.7');
  });
  return app;
}

describe('createHttpApp answers from the catalogue', () => {
  const send = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
    addRoutes(makeApp()).inject({ method, url, ...(payload ? { payload } : {}) });

  it('an_unknown_path_is_404_with_a_body', async () => {
    const answer = await send('GET', '/nothing?x=1');
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({
      object: 'error',
      code: 'not_found',
      message: 'There is no path /nothing.',
    });
  });

  it('a_wrong_method_is_405_and_says_which_are_right', async () => {
    const answer = await send('DELETE', '/things/3');
    expect(answer.statusCode).toBe(405);
    expect(answer.json().code).toBe('method_not_allowed');
    expect(answer.headers.allow).toBe('GET, HEAD, PUT');
  });

  it.each([
    [{ max_pods: 1, max_podz: 0 }, 'max_podz'],
    [{}, 'max_pods'],
    [{ max_pods: '1' }, 'max_pods'],
    [{ max_pods: 1, pool: { n: true } }, 'pool.n'],
  ])('a_strict_body_refuses %j', async (payload, param) => {
    const answer = await send('POST', '/scale', payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'bad_request', param });
  });

  it('a_right_body_passes_unchanged', async () => {
    expect((await send('POST', '/scale', { max_pods: 0 })).json()).toEqual({ max_pods: 0 });
  });

  it('broken_json_a_large_body_and_a_strange_type_have_their_codes', async () => {
    const app = addRoutes(makeApp());
    const post = (payload: string, type = 'application/json') =>
      app.inject({ method: 'POST', url: '/scale', payload, headers: { 'content-type': type } });
    expect((await post('{')).json().code).toBe('bad_request');
    expect((await post('')).json().code).toBe('empty_body');
    expect((await post(`"${'x'.repeat(2_000)}"`)).json().code).toBe('payload_too_large');
    expect((await post('x', 'text/strange')).json().code).toBe('unsupported_media_type');
    expect((await post('{"__proto__": {"max_pods": 1}}')).json().code).toBe('bad_request');
  });

  it('429_and_503_carry_retry_after', async () => {
    const full = await send('GET', '/full');
    expect(full.statusCode).toBe(429);
    expect(full.headers['retry-after']).toBe('7');
    expect(full.json()).toMatchObject({ code: 'queue_full', in_flight: 3 });
    const away = await send('GET', '/away');
    expect(away.statusCode).toBe(503);
    expect(away.headers['retry-after']).toBe('1');
  });

  it('a_fault_of_ours_is_logged_and_shows_nothing_of_its_inside', async () => {
    const answer = await send('GET', '/bug');
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('10.0.0.7');
    expect(answer.json()).toMatchObject({ code: 'internal', request_id: answer.headers['x-request-id'] });
    expect(lines.join('')).toContain('10.0.0.7');
    expect(lines.join('')).toContain(String(answer.headers['x-request-id']));
  });

  it('a_broken_url_is_400_with_a_body', async () => {
    const answer = await send('GET', '/things/%zz');
    expect(answer.statusCode).toBe(400);
    expect(answer.json().code).toBe('bad_request');
  });

  it('names_no_server', async () => {
    expect((await send('GET', '/things/3')).headers).not.toHaveProperty('server');
  });
});

describe('request ids', () => {
  it('one_that_came_is_given_back_and_a_bad_or_absent_one_replaced', async () => {
    const app = addRoutes(makeApp());
    const idFor = async (id?: string) =>
      (await app.inject({ url: '/things/3', headers: id === undefined ? {} : { 'x-request-id': id } }))
        .headers['x-request-id'];
    expect(await idFor('abc-1.2_3')).toBe('abc-1.2_3');
    expect(await idFor()).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('with blank')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('x'.repeat(121))).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('startingGate (R-008)', () => {
  it('known_paths_are_503_until_ready_and_unknown_ones_404_throughout', async () => {
    const app = makeApp();
    const gate = startingGate(app);
    addRoutes(app);
    const early = await app.inject({ url: '/things/3' });
    expect(early.statusCode).toBe(503);
    expect(early.json().code).toBe('starting');
    expect(early.headers['retry-after']).toBe('1');
    expect((await app.inject({ url: '/nothing' })).statusCode).toBe(404);
    gate.ready();
    expect((await app.inject({ url: '/things/3' })).statusCode).toBe(200);
    expect((await app.inject({ url: '/nothing' })).statusCode).toBe(404);
  });
});

describe('on a real socket', () => {
  async function raw(app: FastifyInstance, text: string): Promise<string> {
    await app.listen({ port: 0, host: '127.0.0.1' });
    const address = app.server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const socket = connect(address.port, '127.0.0.1');
    socket.write(text);
    let answer = '';
    socket.on('data', (part) => {
      answer += part;
    });
    await once(socket, 'close');
    return answer;
  }

  it('what_is_not_http_gets_a_catalogue_body_and_the_line_is_closed', async () => {
    const answer = await raw(makeApp(), 'rubbish\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'bad_request' });
  });

  it('a_request_that_never_ends_is_408', async () => {
    const app = createHttpApp({
      name: 't',
      logger,
      requestTimeoutMs: 200,
      http: { connectionsCheckingInterval: 50 },
    });
    apps.push(app);
    addRoutes(app);
    const answer = await raw(
      app,
      'POST /scale HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\ncontent-type: application/json\r\n\r\n{',
    );
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'upload_too_slow' });
  });
});
