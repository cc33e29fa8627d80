import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config, FleetPlan, FleetStatus, ScaleReply, ScaleRequest } from '@pagefleet/contract';
import { afterAll, describe, expect, test } from 'vitest';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import { type Caller, createAuthorise } from './authorise.ts';
import { createControllerApp } from './create-app.ts';
import type { DownRequest } from './down-route.ts';

const OPERATOR_TOKEN = 'the-operators-token';
const CLIENT_KEY = 'a-clients-key';
const OPERATOR_KEY = 'an-operators-key';
const folder = mkdtempSync(join(tmpdir(), 'app-'));
writeFileSync(join(folder, 'operator-token'), `${OPERATOR_TOKEN}\n`);
afterAll(() => rmSync(folder, { recursive: true }));

const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');
const KEYS = [
  { name: 'c', sha256: sha256(CLIENT_KEY), role: 'client' },
  { name: 'o', sha256: sha256(OPERATOR_KEY), role: 'operator' },
];

const STATUS = {
  cluster: 'c',
  leases: [{ owner: 'c' }, { owner: 'other' }],
  money: { leases: [{ owner: 'c' }, { owner: 'other' }] },
} as FleetStatus;

function appWith(apiKeys: unknown[] = []) {
  const downs: DownRequest[] = [];
  const scales: [Caller, ScaleRequest | string][] = [];
  const config = { apiKeys, listen: { host: '127.0.0.1', port: 8_080 } } as unknown as Config;
  const built = createControllerApp({
    logger: quietLogger().logger,
    authorise: createAuthorise({ config, operatorTokenFile: join(folder, 'operator-token') }),
    status: async () => STATUS,
    leases: () => ({
      async scale(caller, body) {
        scales.push([caller, body]);
        return { lease: 'l1' } as ScaleReply;
      },
      async release(caller, lease) {
        scales.push([caller, lease]);
        return { lease: 'l1', released: true } as ScaleReply;
      },
      list: (caller) => STATUS.leases.filter(({ owner }) => owner === caller.name),
    }),
    plan: async () => ({ reasons: ['because'] }) as unknown as FleetPlan,
    health: () => ({ status: 'ok' }),
    metrics: async () => ({ contentType: 'text/plain', text: 'pagefleet_pods_ready 1\n' }),
    models: () => ['ocr', 'fine-ocr'],
    down: (request) => {
      downs.push(request);
      return (async function* () {
        yield { type: 'progress', remaining: 1 };
        yield { type: 'done', remaining: [] };
      })();
    },
  });
  return { ...built, downs, scales };
}

const HERE = { host: '127.0.0.1:8080' };
const bearer = (token: string) => ({ ...HERE, authorization: `Bearer ${token}` });

describe('before it is ready (R-008)', () => {
  test('known_paths_answer_503_starting_with_retry_after_and_unknown_ones_404', async () => {
    const { app, ready } = appWith();
    const early = await app.inject({ url: '/v1/fleet/status', headers: HERE });
    expect(early.statusCode).toBe(503);
    expect(early.json()).toMatchObject({ code: 'starting' });
    expect(early.headers['retry-after']).toBeDefined();
    expect((await app.inject({ url: '/v1/nothing', headers: HERE })).statusCode).toBe(404);
    ready();
    expect((await app.inject({ url: '/v1/fleet/status', headers: HERE })).statusCode).toBe(200);
  });
});

describe('without api keys', () => {
  const { app, ready, downs } = appWith();
  ready();
  const get = (url: string, headers: Record<string, string> = HERE) => app.inject({ url, headers });

  test('everybody_here_is_a_client_and_no_operator', async () => {
    for (const url of ['/v1/fleet/status', '/v1/runpod/status', '/v1/models', '/metrics', '/healthz']) {
      expect((await get(url)).statusCode, url).toBe(200);
    }
    const refused = await get('/v1/fleet/plan');
    expect(refused.statusCode).toBe(403);
    expect(refused.json().message).toContain('operator');
    expect((await get('/v1/fleet/plan', bearer(OPERATOR_TOKEN))).json()).toEqual({ reasons: ['because'] });
  });

  test('a_wrong_token_is_not_taken_for_none', async () => {
    expect((await get('/v1/fleet/status', bearer('guess'))).statusCode).toBe(401);
  });

  test('openais_clients_which_always_send_some_word_list_the_models', async () => {
    expect((await get('/v1/models', bearer('none'))).statusCode).toBe(200);
    expect((await get('/v1/models/ocr', bearer('none'))).statusCode).toBe(200);
    expect((await get('/v1/modelsx', bearer('none'))).statusCode).toBe(404);
  });

  test.each([
    ['a name that somebody else points here', { host: 'evil.example:8080' }],
    ['a page of another site', { ...HERE, origin: 'http://evil.example' }],
    ['a page of another port', { ...HERE, origin: 'http://127.0.0.1:3000' }],
    ['a page without a site', { ...HERE, origin: 'null' }],
  ])('a_browser_that_comes_by_way_of_%s_is_refused', async (_name, headers) => {
    expect((await get('/v1/fleet/status', headers)).statusCode).toBe(403);
  });

  test.each(['127.0.0.1:8080', 'localhost:8080', '[::1]:8080'])('%s is our own name', async (host) => {
    expect((await get('/v1/fleet/status', { host, origin: `http://${host}` })).statusCode).toBe(200);
  });

  test('models_are_listed_as_openai_does', async () => {
    expect((await get('/v1/models')).json()).toMatchObject({
      object: 'list',
      data: [{ id: 'ocr', object: 'model' }, { id: 'fine-ocr' }],
    });
  });

  test('a_model_is_looked_up_by_its_name_and_errors_are_openais', async () => {
    expect((await get('/v1/models/fine-ocr')).json()).toMatchObject({ id: 'fine-ocr', object: 'model' });
    const unknown = await get('/v1/models/datalab-to%2Fsurya');
    expect(unknown.statusCode).toBe(404);
    expect(unknown.json()).toMatchObject({
      error: {
        code: 'not_found',
        param: 'model',
        message: expect.stringContaining('"datalab-to/surya"; known are ocr'),
      },
    });
    const wrong = await get('/v1/models', { host: 'evil.example:8080' });
    expect(wrong.json()).toMatchObject({ error: { code: 'forbidden', request_id: expect.any(String) } });
  });

  const down = (payload: string, headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/v1/fleet/down', payload, headers });
  const JSON_BODY = { ...bearer(OPERATOR_TOKEN), 'content-type': 'application/json' };

  test('down_needs_the_operator_and_a_strict_json_body', async () => {
    const good = '{"keep_pods":false}';
    expect((await down(good, { ...HERE, 'content-type': 'application/json' })).statusCode).toBe(403);
    const form = { ...bearer(OPERATOR_TOKEN), 'content-type': 'text/plain' };
    expect((await down(good, form)).statusCode).toBe(415);
    for (const body of ['{}', '{"keep_pods":"no"}', '{"keep_pods":false,"keep_podz":true}', '[]']) {
      expect((await down(body, JSON_BODY)).statusCode, body).toBe(400);
    }
    expect(downs).toEqual([]);
  });

  test('a_misspelt_field_of_down_is_named_before_the_one_that_is_missing_for_it', async () => {
    expect((await down('{"keep":1}', JSON_BODY)).json()).toMatchObject({
      param: 'keep',
      message: expect.stringContaining('unknown field "keep"'),
    });
    expect((await down('{}', JSON_BODY)).json()).toMatchObject({ param: 'keep_pods' });
  });

  test('down_streams_its_progress_line_by_line', async () => {
    const answer = await down('{"keep_pods":false,"drain_timeout_ms":500}', JSON_BODY);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(
      answer.body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    ).toEqual(['progress', 'done']);
    expect(downs).toEqual([{ keepPods: false, drainTimeoutMs: 500 }]);
  });

  test('a_method_that_a_path_does_not_have_is_said', async () => {
    expect((await app.inject({ method: 'DELETE', url: '/v1/fleet/status', headers: HERE })).statusCode).toBe(
      405,
    );
  });
});

describe.each(['/v1/fleet/scale', '/v1/runpod/scale'])('R-053: %s', (url) => {
  const { app, ready, scales } = appWith(KEYS);
  ready();
  const send = (payload: object, key = CLIENT_KEY) =>
    app.inject({ method: 'POST', url, payload, headers: bearer(key) });

  test('a_lease_is_taken_listed_and_released_under_the_name_of_the_key', async () => {
    const body = {
      pods: 8,
      max_pods: 32,
      gpu_types: ['A40'],
      require: 'fleet',
      ttl_s: 600,
      lease: 'l1',
      name: 'x',
    };
    expect((await send({ ...body, pool: 'ocr' })).json()).toEqual({ lease: 'l1' });
    expect((await send({ max_pods: null, gpu_types: null, require: null }, OPERATOR_KEY)).statusCode).toBe(
      200,
    );
    expect((await app.inject({ url, headers: bearer(CLIENT_KEY) })).json()).toEqual({
      leases: [{ owner: 'c' }],
    });
    const gone = await app.inject({ method: 'DELETE', url: `${url}/l1`, headers: bearer(CLIENT_KEY) });
    expect(gone.json()).toEqual({ lease: 'l1', released: true });
    expect(scales).toEqual([
      [
        { name: 'c', role: 'client' },
        { ...body, pool: 'ocr' },
      ],
      [
        { name: 'o', role: 'operator' },
        { max_pods: null, gpu_types: null, require: null },
      ],
      [{ name: 'c', role: 'client' }, 'l1'],
    ]);
  });

  test.each([
    [{ max_podz: 4 }, 'max_podz'],
    [{ pods: '8' }, 'pods'],
    [{ pods: -1 }, 'pods'],
    [{ pods: 1.5 }, 'pods'],
    [{ require: 'fleat' }, 'require'],
    [{ ttl_s: 0 }, 'ttl_s'],
    [{ gpu_types: [] }, 'gpu_types'],
  ])('the body %j is refused by the name of its fault', async (body, param) => {
    const answer = await send(body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().param).toContain(param);
  });

  test('nobody_without_a_key_takes_lists_or_releases_one', async () => {
    for (const method of ['POST', 'GET', 'DELETE'] as const) {
      const path = method === 'DELETE' ? `${url}/l1` : url;
      expect((await app.inject({ method, url: path, headers: HERE })).statusCode).toBe(401);
    }
  });
});

describe('what is judged first', () => {
  const { app, ready } = appWith(KEYS);
  ready();
  const CONTROLS = ['/v1/fleet/down', '/v1/fleet/scale', '/v1/runpod/scale'];
  const send = (url: string, payload: string, headers: Record<string, string>) =>
    app.inject({ method: 'POST', url, payload, headers });
  const BAD: [string, string, string][] = [
    ['no JSON', 'a=1', 'text/plain'],
    ['a form', 'a=1', 'application/x-www-form-urlencoded'],
    ['broken JSON', '{', 'application/json'],
    ['an unknown field', '{"max_podz":1}', 'application/json'],
    ['too much', `"${'x'.repeat(70_000)}"`, 'application/json'],
  ];

  test.each(BAD)('who_asks_comes_before_a_body_with %s', async (_name, payload, type) => {
    for (const url of CONTROLS) {
      const answer = await send(url, payload, { ...HERE, 'content-type': type });
      expect(answer.statusCode, url).toBe(401);
      expect(answer.json()).toMatchObject({ code: 'unauthorized' });
    }
    const client = { ...bearer(CLIENT_KEY), 'content-type': type };
    expect((await send('/v1/fleet/down', payload, client)).statusCode).toBe(403);
    const foreign = { ...bearer(OPERATOR_KEY), 'content-type': type, origin: 'http://evil.example' };
    for (const url of CONTROLS) expect((await send(url, payload, foreign)).statusCode, url).toBe(403);
  });

  test.each(CONTROLS)('%s names the media type it got and the one it expects', async (url) => {
    const answer = await send(url, 'a=1', { ...bearer(OPERATOR_KEY), 'content-type': 'text/plain' });
    expect(answer.statusCode).toBe(415);
    expect(answer.json()).toMatchObject({
      object: 'error',
      code: 'unsupported_media_type',
      param: 'Content-Type',
      message: 'the Content-Type is "text/plain"; control bodies are application/json',
    });
  });

  test('an_option_behind_the_question_mark_is_refused_by_name_once_or_twice', async () => {
    for (const url of ['/v1/fleet/status', '/v1/runpod/status', '/v1/fleet/plan', '/v1/models', '/metrics']) {
      for (const query of ['max_pods=1', 'max_pods=1&max_pods=2']) {
        const answer = await app.inject({ url: `${url}?${query}`, headers: bearer(OPERATOR_KEY) });
        expect(answer.statusCode, url).toBe(400);
        const said = answer.json().error ?? answer.json();
        expect(said).toMatchObject({ code: 'bad_request', param: 'max_pods' });
        expect(said.message).toContain(`${url} takes none`);
      }
      expect((await app.inject({ url: `${url}?a=1`, headers: HERE })).statusCode, url).toBe(401);
    }
    for (const url of CONTROLS) {
      const json = { ...bearer(OPERATOR_KEY), 'content-type': 'application/json' };
      expect((await send(`${url}?keep_pods=true`, '{"keep_pods":false}', json)).statusCode, url).toBe(400);
    }
  });
});

describe('with api keys', () => {
  const { app, ready } = appWith(KEYS);
  ready();
  const code = async (url: string, headers: Record<string, string>) =>
    (await app.inject({ url, headers })).statusCode;

  test('a_client_sees_its_own_leases_in_the_status_and_an_operator_all', async () => {
    const see = async (key: string) =>
      (await app.inject({ url: '/v1/fleet/status', headers: bearer(key) })).json();
    const own = [{ owner: 'c' }];
    expect(await see(CLIENT_KEY)).toMatchObject({ leases: own, money: { leases: own } });
    expect((await see(CLIENT_KEY)).leases).toHaveLength(1);
    expect((await see(OPERATOR_KEY)).leases).toHaveLength(2);
  });

  test('each_key_acts_in_its_role_and_nobody_without_one', async () => {
    expect(await code('/v1/fleet/status', HERE)).toBe(401);
    expect(await code('/v1/fleet/status', bearer(CLIENT_KEY))).toBe(200);
    expect(await code('/v1/fleet/plan', bearer(CLIENT_KEY))).toBe(403);
    expect(await code('/v1/fleet/plan', bearer(OPERATOR_KEY))).toBe(200);
    expect(await code('/v1/fleet/plan', bearer(OPERATOR_TOKEN))).toBe(200);
    expect(await code('/healthz', HERE)).toBe(200);
  });

  test('the_machine_is_reached_by_any_name_then', async () => {
    expect(await code('/v1/fleet/status', { ...bearer(CLIENT_KEY), host: 'ocr.example.org' })).toBe(200);
  });
});
