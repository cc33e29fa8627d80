import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@pagefleet/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { createSelfRemoval } from './remove-self.ts';

const KEY = 'rpa_pod_scoped_secret';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** What an API answers, in order; the last one stays. null: it breaks the connection off. */
type Answer = { status: number; body?: string; headers?: Record<string, string> } | null;

interface Call {
  readonly api: 'rest' | 'graphql';
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const GONE: Answer = { status: 404, body: '{"title":"Not Found","status":404,"detail":"pod not found"}' };
const ACCEPTED: Answer = { status: 204 };
const TERMINATED: Answer = { status: 200, body: '{"data":{"podTerminate":null}}' };
const graphqlError = (code: string): Answer => ({
  status: 200,
  body: JSON.stringify({ errors: [{ message: 'pod not found to terminate', extensions: { code } }] }),
});

/** Both APIs of a provider, and a pod that removes itself there. */
async function provider(answers: { rest: Answer[]; graphql: Answer[] }) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const api = request.url === '/graphql' ? 'graphql' : 'rest';
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    calls.push({ api, method, url, headers, body });
    const queue = answers[api];
    const answer = queue.length > 1 ? queue.shift() : queue[0];
    if (!answer) return void request.socket.destroy();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pauses: number[] = [];
  const lines: string[] = [];
  let nowMs = 0;
  const removal = createSelfRemoval({
    settings: { podId: 'pod/1', apiUrl: `${base}/v2/`, graphqlUrl: `${base}/graphql` },
    apiKey: KEY,
    logger: createLogger({
      component: 't',
      level: 'trace',
      destination: { write: (line) => lines.push(line) },
    }),
    nowMs: () => nowMs,
    pause: async (ms) => {
      pauses.push(ms);
      nowMs += ms;
      if (pauses.length > 200) throw new Error('it never ends');
    },
  });
  const sent = () => calls.map(({ api }) => api);
  return { removal, calls, sent, pauses, log: () => lines.join('') };
}

describe('a pod that removes itself (R-044)', () => {
  it('asks_until_the_provider_says_that_it_is_gone', async () => {
    const { removal, calls, sent } = await provider({
      rest: [ACCEPTED, ACCEPTED, GONE],
      graphql: [graphqlError('RUNPOD')],
    });
    await removal.run();
    expect(sent()).toEqual(['rest', 'rest', 'rest', 'graphql']);
    expect(calls[0]).toMatchObject({
      method: 'DELETE',
      url: '/v2/pods/pod%2F1',
      headers: { authorization: `Bearer ${KEY}`, 'user-agent': expect.stringContaining('pagefleet') },
    });
    expect(calls[3]).toMatchObject({
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'user-agent': expect.stringContaining('pagefleet') },
    });
    expect(JSON.parse(calls[3]?.body ?? '').query).toMatch(/podTerminate\(input: { podId: "pod\/1" }\)/);
  });

  it.each([
    ['a fault', { status: 500, body: 'unexpected end of JSON input' }],
    ['a refusal', { status: 403, body: 'error code: 1010' }],
    ['an HTML body', { status: 502, body: '<html>' }],
    ['a broken connection', null],
  ])('is_not_told_by_%s_and_asks_the_other_way', async (_, answer) => {
    const { removal, sent } = await provider({ rest: [answer, GONE], graphql: [TERMINATED] });
    await removal.run();
    expect(sent()).toEqual(['rest', 'graphql', 'rest', 'graphql']);
  });

  it('a_404_alone_is_not_believed_while_the_other_api_says_nothing', async () => {
    const unheard: Answer[] = [{ status: 503 }, null, graphqlError('INTERNAL_SERVER_ERROR'), TERMINATED];
    const { removal, sent, log } = await provider({ rest: [GONE], graphql: unheard });
    await removal.run();
    expect(sent()).toHaveLength(8);
    expect(log()).toContain('pod_removed');
  });

  it('what_is_accepted_and_never_done_is_asked_for_the_other_way', async () => {
    const rest = [...Array.from({ length: 6 }, () => ACCEPTED), GONE];
    const { removal, sent } = await provider({ rest, graphql: [TERMINATED] });
    await removal.run();
    expect(sent().slice(0, 6)).toEqual(['rest', 'rest', 'rest', 'rest', 'graphql', 'rest']);
  });

  it('waits_longer_and_longer_but_never_above_a_minute', async () => {
    const rest = [...Array.from({ length: 9 }, () => ({ status: 500 })), GONE];
    const { removal, pauses } = await provider({ rest, graphql: [{ status: 500 }, TERMINATED] });
    await removal.run();
    expect(pauses.slice(0, 6)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    expect(Math.max(...pauses)).toBe(60_000);
  });

  it('sends_nothing_to_an_api_before_the_time_it_named_and_goes_on_with_the_other (R-062)', async () => {
    const banned = { status: 429, headers: { 'retry-after': '3939' } };
    const rest = [...Array.from({ length: 20 }, () => ({ status: 403 })), GONE];
    const { removal, sent, pauses } = await provider({ rest, graphql: [banned, graphqlError('RUNPOD')] });
    await removal.run();
    const waitedMs = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeGreaterThanOrEqual(3_939_000);
    expect(waitedMs).toBeLessThan(3_939_000 + 61_000);
    expect(sent().filter((api) => api === 'graphql')).toHaveLength(2);
  });

  it('never_logs_its_key', async () => {
    const { removal, log } = await provider({ rest: [null, { status: 401 }, GONE], graphql: [TERMINATED] });
    await removal.run();
    expect(log()).toContain('pod_removal_asked');
    expect(log()).not.toContain(KEY);
  });

  it('without_a_key_it_says_that_it_cannot', () => {
    const logger = createLogger({ component: 't', level: 'silent' });
    const settings = { podId: 'p', apiUrl: '', graphqlUrl: '' };
    expect(createSelfRemoval({ settings, logger, apiKey: undefined }).hindrance).toContain('RUNPOD_API_KEY');
    expect(createSelfRemoval({ settings, logger, apiKey: KEY }).hindrance).toBeNull();
  });
});
