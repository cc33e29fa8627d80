import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROFILE_NAMES } from '@pagefleet/contract';
import { observeProcess } from '@pagefleet/runtime';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN, until } from './gateway-process.ts';
import {
  type ModelGateway,
  type ModelGatewayOptions,
  smallPage,
  startModelGateway,
} from './model-gateway.ts';

const CHAT = '/v1/chat/completions';
const started: ModelGateway[] = [];
const agent = new Agent();
const start = (options?: ModelGatewayOptions): ModelGateway => {
  const gateway = startModelGateway(options);
  started.push(gateway);
  return gateway;
};
afterAll(async () => {
  await Promise.all(started.map((gateway) => gateway.end()));
});

const chatBody = (stream: boolean): string =>
  JSON.stringify({
    model: 'datalab-to/surya-ocr-2',
    messages: [{ role: 'user', content: 'hello' }],
    max_tokens: 40,
    stream,
  });

async function chat({ gateway }: ModelGateway, id: string, body: string, signal?: AbortSignal) {
  const origin = `http://127.0.0.1:${await gateway.port()}`;
  return await request(`${origin}${CHAT}`, {
    ...{ method: 'POST', body, dispatcher: agent, signal: signal ?? null },
    headers: {
      ...{ authorization: `Bearer ${TOKEN}`, 'x-page-id': id, 'x-owner': 'ours' },
      'content-type': 'application/json',
    },
  });
}

// Each has a pod of its own, whose start is most of what it waits for.
describe('a gateway that reads with a model server of its own (R-040, R-070)', { concurrent: true }, () => {
  it.each(PROFILE_NAMES)('%s_reads_a_page_after_a_trial_page_of_few_tokens', async (engine) => {
    const pod = start({ engine });
    const { status, body } = await pod.gateway.read('page-1', await smallPage(1));
    expect([status, body]).toEqual([200, expect.stringContaining('simulated')]);
    expect(JSON.parse(body).engine).toContain(engine);
    // The simulation writes a request down when its answer has ended.
    await until(async () => pod.requests().length >= 2, 'both requests are written down');
    const asked = pod.requests().map(({ path, body: sent }) => [path, sent.max_tokens]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toEqual([CHAT, 16]);
    expect(await pod.state()).toBe('ready');
    expect((await pod.gateway.ask('GET', '/healthz')).body.engineVersion).toMatch(/^vllm /);
  });

  it('its_server_listens_on_loopback_knows_no_secret_and_its_output_is_kept', async () => {
    const pod = start();
    await until(async () => (await pod.state()) === 'ready', 'the engine is ready');
    const [{ pid = 0, argv = [] } = {}] = pod.starts();
    expect(argv[argv.indexOf('--host') + 1]).toBe('127.0.0.1');
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    expect(environment).not.toContain(TOKEN);
    expect(environment).not.toContain('PAGEFLEET_');
    expect(argv.join(' ')).not.toContain(TOKEN);
    expect(await readFile(join(pod.gateway.dir, 'engine.log'), 'utf8')).toContain('simulated');
    expect(JSON.parse(await readFile(join(pod.gateway.dir, 'engine.json'), 'utf8'))).toEqual(
      await observeProcess(pid),
    );
  });

  it('it_ends_with_its_gateway_in_order_and_when_that_is_killed (L16)', async () => {
    const first = start();
    await until(async () => (await first.state()) === 'ready', 'the engine is ready');
    first.gateway.child.kill('SIGTERM');
    await first.gateway.exited;
    await until(async () => (await first.living()).length === 0, 'no server is left');
    const second = start();
    await until(async () => (await second.state()) === 'ready', 'the engine is ready');
    second.gateway.child.kill('SIGKILL');
    await until(async () => (await second.living()).length === 0, 'no server is left after kill -9', 5_000);
  });

  it('a_pod_that_is_ended_while_its_server_starts_does_not_wait_for_it', async () => {
    const pod = start({ script: { startMs: 25_000 } });
    await until(() => pod.starts().length === 1, 'the server starts');
    const atMs = performance.now();
    pod.gateway.child.kill('SIGTERM');
    expect((await pod.gateway.exited).code).toBe(0);
    expect(performance.now() - atMs).toBeLessThan(10_000);
    await until(async () => (await pod.living()).length === 0, 'no server is left');
  });
});

/** One after the other on one pod, in this order: the last one ends its server. */
describe('chat through a gateway (R-024)', () => {
  let pod: ModelGateway;
  beforeAll(async () => {
    pod = start();
    await until(async () => (await pod.state()) === 'ready', 'the engine is ready');
  });

  it.each([true, false])('an_answer_is_the_servers_own_byte_for_byte (stream: %s)', async (stream) => {
    pod.script({ repeatable: true });
    const through = await chat(pod, 'chat-1', chatBody(stream));
    const bytes = Buffer.from(await through.body.arrayBuffer());
    const direct = await request(`http://127.0.0.1:${pod.starts()[0]?.port}${CHAT}`, {
      ...{ method: 'POST', body: chatBody(stream), headers: { 'content-type': 'application/json' } },
    });
    expect(bytes.equals(Buffer.from(await direct.body.arrayBuffer()))).toBe(true);
    expect(bytes.length).toBeGreaterThan(100);
    expect(through.headers['content-type']).toBe(direct.headers['content-type']);
  });

  it('a_refusal_of_the_server_passes_as_it_is', async () => {
    const { statusCode, body } = await chat(pod, 'chat-2', '{"model":"nobody","messages":[]}');
    const { error } = (await body.json()) as { error: { message: string } };
    expect([statusCode, typeof error.message]).toEqual([404, 'string']);
  });

  it('a_client_that_hangs_up_ends_the_generation_at_once', async () => {
    pod.script({ tokensPerS: 20, rules: [{ reply: { loop: 'again ' } }] });
    const hangUp = new AbortController();
    const endless = chatBody(true).replace('40', '4000');
    const { body } = await chat(pod, 'chat-3', endless, hangUp.signal);
    body.on('error', () => undefined);
    await until(async () => (await pod.stats()).running === 1, 'the reply is generated');
    hangUp.abort();
    await until(async () => (await pod.stats()).running === 0, 'the generation is over', 3_000);
    expect(pod.requests().at(-1)).toMatchObject({ end: 'aborted' });
  });

  it('a_server_that_dies_in_the_middle_cuts_the_connection', async () => {
    pod.script({ rules: [{ when: { textContains: 'hello' }, reply: { loop: 'again ', dies: 12 } }] });
    const { statusCode, body } = await chat(pod, 'chat-4', chatBody(true));
    expect(statusCode).toBe(200);
    await expect(body.text()).rejects.toThrow();
  });
});
