import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type EngineState, type PodHealth, PROOF_HEADERS } from '@pagefleet/contract';
import { constantTimeEqual, freePorts, makeProof, podTls } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { createPodProber, type PodProber, type ProbeTarget } from './pod-prober.ts';

const TOKEN = 'a'.repeat(64);
const servers: Server[] = [];
const probers: PodProber[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  for (const prober of probers.splice(0)) await prober.close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function pod(handler: Handler): Promise<ProbeTarget> {
  return { url: `http://127.0.0.1:${await listen(createServer(handler))}`, token: TOKEN };
}

/** serves TLS with the key of this token, and is believed to be the pod of ours */
async function pskPod(handler: Handler, token = TOKEN): Promise<ProbeTarget> {
  const server = createTlsServer(podTls({ token, podKey: 'key' }), handler);
  return { url: `psk://127.0.0.1:${await listen(server)}`, token: TOKEN };
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function prober(): PodProber {
  const one = createPodProber('cluster');
  probers.push(one);
  return one;
}

function health(engine: EngineState): PodHealth {
  return {
    ...{ v: 1, podId: 'p', engine, engineName: 'sleep', engineVersion: '1', width: 1, inflight: 0 },
    ...{ waiting: 0, pagesDone: 3, uptimeMs: 1, cpuPercent: 0, rssBytes: 1, settings: {} },
    ...{ settingsVersion: 1, unknownSettings: [], configHash: 'h' },
  } as PodHealth;
}

/** a gateway as R-031 wants it: it proves its token, and believes only an owner that does */
function proving(engine: EngineState, more: { token?: string; engineFault?: string } = {}): Handler {
  const { token = TOKEN, ...said } = more;
  return (request, response) => {
    const nonce = String(request.headers[PROOF_HEADERS.nonce]);
    response.setHeader(PROOF_HEADERS.podProof, makeProof(token, 'pod', nonce));
    response.end(JSON.stringify({ ...health(engine), ...said }));
  };
}

const CONTROL = { timeoutMs: 2_000, lane: 'control' } as const;

describe('a probe (R-031, R-036)', () => {
  test.each(['ready', 'busy', 'starting', 'dead'] as const)(
    'tells_the_engine’s_own_word: %s',
    async (engine) => {
      const answer = await prober().probe(await pod(proving(engine)), CONTROL);
      expect(answer.outcome).toBe(engine);
      expect(answer.health).toMatchObject({ pagesDone: 3 });
    },
  );

  test('tells_why_an_engine_cannot_start_also_between_two_tries', async () => {
    const engineFault = 'language xyz is not installed';
    for (const engine of ['dead', 'starting', 'ready'] as const) {
      const { outcome, detail } = await prober().probe(await pod(proving(engine, { engineFault })), CONTROL);
      expect([outcome, detail]).toEqual(engine === 'ready' ? ['ready', undefined] : ['unfit', engineFault]);
    }
  });

  test('shows_the_pod_that_we_are_its_owner_without_showing_the_token', async () => {
    let seen: IncomingMessage['headers'] = {};
    const target = await pod((request, response) => {
      seen = request.headers;
      proving('ready')(request, response);
    });
    await prober().probe(target, CONTROL);
    const nonce = String(seen[PROOF_HEADERS.nonce]);
    expect(constantTimeEqual(String(seen[PROOF_HEADERS.ownerProof]), makeProof(TOKEN, 'owner', nonce))).toBe(
      true,
    );
    expect(JSON.stringify(seen)).not.toContain(TOKEN);
  });

  test('believes_nobody_who_cannot_prove_the_token', async () => {
    const stranger = await pod(proving('ready', { token: 'b'.repeat(64) }));
    expect(await prober().probe(stranger, CONTROL)).toEqual({ outcome: 'unproven', health: null });
    const silent = await pod((_request, response) => response.end(JSON.stringify(health('ready'))));
    expect((await prober().probe(silent, CONTROL)).outcome).toBe('unproven');
  });

  test('asks_with_a_fresh_nonce_and_a_fresh_connection_each_time', async () => {
    const nonces = new Set<unknown>();
    const ports = new Set<unknown>();
    const target = await pod((request, response) => {
      nonces.add(request.headers[PROOF_HEADERS.nonce]);
      ports.add(request.socket.remotePort);
      proving('ready')(request, response);
    });
    const one = prober();
    for (let n = 0; n < 3; n += 1) await one.probe(target, CONTROL);
    expect(nonces.size).toBe(3);
    expect(ports.size).toBe(3);
  });

  test('tells_a_refused_connection_from_a_pod_that_hangs', async () => {
    const [port] = await freePorts(1);
    const gone = { url: `http://127.0.0.1:${port}`, token: TOKEN };
    expect((await prober().probe(gone, CONTROL)).outcome).toBe('refused');
    const hung = await pod(() => undefined);
    expect((await prober().probe(hung, { ...CONTROL, timeoutMs: 100 })).outcome).toBe('timeout');
  });

  test('boots_that_hang_never_stand_in_the_way_of_a_probe_that_restores_a_pod', async () => {
    const hung = await pod(() => undefined);
    const alive = await pod(proving('ready'));
    const one = prober();
    const boots = Array.from({ length: 64 }, () => one.probe(hung, { timeoutMs: 1_500, lane: 'boot' }));
    expect((await one.probe(alive, { timeoutMs: 1_000, lane: 'control' })).outcome).toBe('ready');
    await Promise.all(boots);
  });
});

describe('a pod that is spoken to over TLS with its key (DESIGN 5, R-025)', () => {
  test('is_probed_and_tried_through_it', async () => {
    const target = await pskPod(proving('busy'));
    expect((await prober().probe(target, CONTROL)).outcome).toBe('busy');
    expect((await prober().trial({ ...target, model: null }, 2_000)).outcome).toBe('page-refused');
  });

  test('is_unproven_where_another_answers_who_hears_no_request', async () => {
    let requests = 0;
    const count: Handler = (request, response) => {
      requests += 1;
      proving('ready')(request, response);
    };
    const plain = await pod(count);
    const strangers = [
      await pskPod(count, 'b'.repeat(64)),
      { ...plain, url: plain.url.replace('http:', 'psk:') },
    ];
    for (const stranger of strangers) {
      expect((await prober().probe(stranger, CONTROL)).outcome).toBe('unproven');
      expect((await prober().trial({ ...stranger, model: null }, 2_000)).outcome).toBe('unproven');
    }
    expect(requests).toBe(0);
  });
});

describe('a trial page (L6)', () => {
  const page = { text: '', markdown: '', confidence: null, width: 1, height: 1, dpi: 1, rotation: 0 };
  const result = { ...page, engine: 'sleep', engineMs: 1 };

  async function answer(status: number, body: unknown): Promise<string> {
    const target = await pod((request, response) => {
      request.resume();
      request.on('end', () => {
        response.statusCode = status;
        response.end(JSON.stringify(body));
      });
    });
    return (await prober().trial({ ...target, model: null }, 2_000)).outcome;
  }

  test.each([
    ['a page result', 200, result, 'page-read'],
    ['something else', 200, { hello: 1 }, 'page-refused'],
    ['a failed engine', 502, { code: 'engine_failed' }, 'page-refused'],
    ['an engine that is not ready', 503, { code: 'engine_not_ready' }, 'page-refused'],
    ['a request at fault, which says nothing about the pod', 400, { code: 'bad_request' }, 'page-faulty'],
    ['another owner', 409, { code: 'wrong_owner' }, 'wrong-owner'],
    ['a full pod, which says nothing about itself', 429, { code: 'pod_full' }, 'ours'],
  ])('%s', async (_name, status, body, outcome) => {
    expect(await answer(status, body)).toBe(outcome);
  });

  test('of_a_stock_pod_is_one_token_of_chat_by_the_name_of_its_model (R-022, L6)', async () => {
    let seen: { path?: string; body?: Record<string, unknown> } = {};
    const target = await pod((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen = { path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) };
        response.end('{"choices":[{"message":{"content":"o"}}]}');
      });
    });
    const outcome = async (model: string | null) =>
      (await prober().trial({ ...target, model }, 2_000)).outcome;
    expect(await outcome('chandra')).toBe('page-read');
    expect(seen.path).toBe('/v1/chat/completions');
    expect(seen.body).toMatchObject({ model: 'chandra', max_tokens: 1 });
    const silent = await pod((_request, response) => response.end('{"choices":[]}'));
    expect((await prober().trial({ ...silent, model: 'chandra' }, 2_000)).outcome).toBe('page-refused');
  });

  test('is_a_real_picture_sent_with_the_pod’s_own_token', async () => {
    let seen: IncomingMessage['headers'] = {};
    let bytes = Buffer.alloc(0);
    const target = await pod((request, response) => {
      seen = request.headers;
      request.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
      });
      request.on('end', () => response.end(JSON.stringify(result)));
    });
    await prober().trial({ ...target, model: null }, 2_000);
    expect(seen.authorization).toBe(`Bearer ${TOKEN}`);
    expect(bytes.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  });
});
