/**
 * Chat and pages of pods that run a model server, through the whole cluster: nginx, workers, gateways, and our simulation of
 * vLLM in the place of the real one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type TestCluster } from '../cluster.ts';
import { whitePage } from '../load.ts';
import { BIG_MB, CALLS, type ChatScripts, chatScripts, GREETING, knownPage, TRUTH } from './chat-script.ts';
import { modelPool } from './model-pools.ts';
import { memoryMb, openStream } from './raw-stream.ts';

const TOOLS: OpenAI.ChatCompletionTool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { place: { type: 'string' } } } },
}));
const CHAT = '/v1/chat/completions';
const LORA = 'fine-ocr';
const WIDTH = 512;
/** Anything takes seconds; what hangs shall not hang the run. */
const LONGEST_MS = 60_000;
/** What another process is about to say, on a machine that does other work too. */
const SOON = { timeout: 10_000 };
const SLOW_READERS = 3;
/** Seen: 9 MB on a busy machine; more than 100 would lie in a worker that does not wait for its clients. */
const MOST_GROWN_MB = 64;
const folder = mkdtempSync(join(tmpdir(), 'chat-'));

const POOLS = {
  ocr: modelPool('ocr', {
    ...{ engine: 'surya', width: WIDTH },
    settings: { max_pods: 2, idle_timeout: '1s' },
    vllm: { loras: [{ name: LORA, path: '/adapters/fine' }] },
  }),
  chandra: modelPool('chandra', { engine: 'chandra', width: 2 }),
  olmocr: modelPool('olmocr', { engine: 'olmocr', width: 2 }),
};
let scripts: ChatScripts;
let cluster: TestCluster;
let ours: OpenAI;
let direct: OpenAI;

beforeAll(async () => {
  scripts = await chatScripts(folder);
  for (const pool of Object.values(POOLS)) pool.script(scripts.fast);
  cluster = await startCluster({
    pools: Object.values(POOLS).map(({ settings }) => settings),
    limits: { max_in_flight: 2 * WIDTH, max_inflight_per_pod: WIDTH },
  });
  await cluster.whole(3);
  const clientAt = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  ours = clientAt(cluster.url);
  direct = clientAt(POOLS.ocr.direct());
});
afterAll(async () => {
  // What a failed test left open would hold up the end.
  if (cluster) await POOLS.ocr.goOn(scripts.fast);
  await cluster?.down();
  for (const pool of Object.values(POOLS)) pool.remove();
  rmSync(folder, { recursive: true, force: true });
});

const asked = (content: string, model = 'ocr') => ({
  model,
  messages: [{ role: 'user' as const, content }],
});

function send(url: string, path: string, body: object): Promise<Response> {
  return fetch(`${url}${path}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(LONGEST_MS),
  });
}

/** The same body to the cluster and straight to the pod's server; what came back must not differ by a byte. */
async function expectSameBytes(path: string, body: object): Promise<string> {
  const [through, straight] = await Promise.all(
    [cluster.url, POOLS.ocr.direct()].map((url) => send(url, path, body)),
  );
  if (through === undefined || straight === undefined) throw new Error('two were sent');
  const [got, wanted] = await Promise.all(
    [through, straight].map(async (one) => Buffer.from(await one.arrayBuffer())),
  );
  expect(got).toEqual(wanted);
  expect(wanted?.length).toBeGreaterThan(100);
  expect([through.status, through.headers.get('content-type')]).toEqual([
    straight.status,
    straight.headers.get('content-type'),
  ]);
  return String(got);
}

const running = async () => (await POOLS.ocr.stats()).reduce((sum, one) => sum + one.running, 0);

describe('one pod of a pool on a model server', () => {
  test.each(Object.values(POOLS))('$name: reads_pages_and_answers_chats (R-024, R-070)', async (pool) => {
    const answer = await fetch(`${cluster.url}/v1/ocr?model=${pool.name}`, {
      ...{ method: 'POST', headers: { 'content-type': 'image/png' } },
      body: new Uint8Array(await knownPage()),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { pages: [{ index: 0, markdown: expect.stringContaining(TRUTH) }] },
    ]);
    const reply = await ours.chat.completions.create(asked('hello', pool.name));
    expect(reply.choices[0]?.message.content).toContain('You said: hello');
    expect(pool.starts()).toHaveLength(1);
    // Pages of its own trials are among them.
    await expect
      .poll(() => pool.requests().map(({ page, end, body }) => [page, end, JSON.stringify(body)]), SOON)
      .toEqual(
        expect.arrayContaining([
          ['herring', 'stop', expect.any(String)],
          [null, 'stop', expect.stringContaining('"hello"')],
        ]),
      );
  });
});

describe('the official openai client, only its baseURL changed (R-024)', () => {
  test('two_interleaved_tool_calls_streamed_and_buffered', async () => {
    const body = { ...asked('call both'), tools: TOOLS };
    const raw = await expectSameBytes(CHAT, { ...body, stream: true });
    expect(raw.endsWith('data: [DONE]\n\n')).toBe(true);
    await expectSameBytes(CHAT, body);
    for (const complete of [
      (client: OpenAI) => client.chat.completions.create(body),
      (client: OpenAI) => client.chat.completions.stream(body).finalChatCompletion(),
    ]) {
      const got = await complete(ours);
      expect(got).toEqual(await complete(direct));
      const { message, finish_reason } = got.choices[0] as OpenAI.ChatCompletion.Choice;
      const calls = message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
      expect(calls.map(({ function: { name, arguments: told } }) => [name, JSON.parse(told)])).toEqual(
        CALLS.map(({ name, arguments: told }) => [name, told]),
      );
      expect([message.content, finish_reason]).toEqual([null, 'tool_calls']);
    }
  });

  test('logprobs_and_the_usage_of_a_stream', async () => {
    const body = { ...asked('greet'), logprobs: true, top_logprobs: 3 };
    const streamed = { ...body, stream: true as const, stream_options: { include_usage: true } };
    await expectSameBytes(CHAT, streamed);
    await expectSameBytes(CHAT, body);
    const whole = await ours.chat.completions.create(body);
    expect(whole).toEqual(await direct.chat.completions.create(body));
    expect(whole.choices[0]?.logprobs?.content?.[0]?.top_logprobs).toHaveLength(3);
    const chunks = await collect(await ours.chat.completions.create(streamed));
    expect(chunks).toEqual(await collect(await direct.chat.completions.create(streamed)));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(GREETING);
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
  });

  test('completions_embeddings_models_and_an_adapter_by_its_name', async () => {
    const prompt = { model: LORA, prompt: 'once upon', max_tokens: 8 };
    await expectSameBytes('/v1/completions', prompt);
    await expectSameBytes('/v1/completions', { ...prompt, stream: true });
    const reply = await ours.completions.create(prompt);
    expect([reply.model, reply.choices[0]?.text]).toEqual([LORA, expect.stringContaining('simulated')]);
    const chat = await ours.chat.completions.create(asked('greet', LORA));
    expect(chat).toEqual(await direct.chat.completions.create(asked('greet', LORA)));
    const vectors = async (client: OpenAI) =>
      (await client.embeddings.create({ model: 'ocr', input: ['a', 'b'] })).data;
    expect(await vectors(ours)).toEqual(await vectors(direct));
    expect(await vectors(ours)).toHaveLength(2);
    const names = (await collect(ours.models.list())).map(({ id }) => id);
    for (const name of ['ocr', LORA, 'chandra', 'olmocr', 'datalab-to/surya-ocr-2'])
      expect(names).toContain(name);
  });

  test('a_400_of_the_pods_server_as_it_is', async () => {
    const tooLong = asked('word '.repeat(30_000));
    await expectSameBytes(CHAT, tooLong);
    const failure = (client: OpenAI) => client.chat.completions.create(tooLong).catch((error) => error);
    const [got, wanted] = await Promise.all([failure(ours), failure(direct)]);
    expect(got).toBeInstanceOf(BadRequestError);
    expect([got.message, got.error]).toEqual([wanted.message, wanted.error]);
    expect((await cluster.status()).summary).toMatchObject({ pods_ready: 3, pods_quarantined: 0 });
  });

  test('an_abort_in_the_middle_ends_the_generation_at_once (R-020)', async () => {
    POOLS.ocr.script(scripts.slow);
    for (const [at, leave] of (['abort', 'break'] as const).entries()) {
      const stream = await ours.chat.completions.create({ ...asked('talk at length'), stream: true });
      let leftAtMs = 0;
      const read = async () => {
        for await (const _ of stream) {
          expect(await running()).toBe(1);
          leftAtMs = performance.now();
          if (leave === 'break') break;
          stream.controller.abort();
        }
      };
      await read().catch(() => undefined);
      await expect.poll(running, { interval: 5, timeout: 5_000 }).toBe(0);
      const ms = performance.now() - leftAtMs;
      report(`a hang-up reached the server of the pod in ${Math.round(ms)} ms`);
      expect(ms).toBeLessThan(2_000);
      await expect
        .poll(() => POOLS.ocr.requests().filter(({ end }) => end === 'aborted').length, SOON)
        .toBe(at + 1);
    }
    await POOLS.ocr.goOn(scripts.fast);
    await cluster.until('no page is in flight', ({ summary }) => summary.pages_in_flight === 0);
  });
});

describe('a client that takes its stream slowly', () => {
  test('loses_no_byte_and_fills_no_memory_of_ours (R-024)', async () => {
    POOLS.ocr.script(scripts.big);
    const body = { ...asked('say a lot'), stream: true };
    const whole = await (await openStream(`${POOLS.ocr.direct()}${CHAT}`, body)).rest();
    expect(whole.bytes).toBeGreaterThan(BIG_MB * 1e6);
    const pids = (['worker', 'nginx-worker', 'pod'] as const).flatMap((name) => cluster.pidsOf(name));
    // Once read through, so that what grows later is not what Node sets aside for any work.
    const warm = await Promise.all([1, 2].map(() => openStream(`${cluster.url}${CHAT}`, body)));
    await Promise.all(warm.map((stream) => stream.rest()));
    const before = memoryMb(pids);
    const streams = await Promise.all(
      Array.from({ length: SLOW_READERS }, () => openStream(`${cluster.url}${CHAT}`, body)),
    );
    let most = before.map(() => 0);
    for (let n = 0; n < 20; n += 1) {
      await sleep(100);
      for (const stream of streams) stream.take();
      most = memoryMb(pids).map((mb, at) => Math.max(most[at] ?? 0, mb));
    }
    expect(streams.filter(({ response }) => response.complete)).toEqual([]);
    for (const stream of streams) expect(await stream.rest()).toEqual(whole);
    await POOLS.ocr.goOn(scripts.fast);
    const grown = most.map((mb, at) => mb - (before[at] ?? 0));
    report(`slow readers of ${SLOW_READERS * BIG_MB} MB: processes grew by ${grown.join(', ')} MB`);
    // What was not taken, less what the kernel holds, would lie in some of them.
    expect(Math.max(...grown)).toBeLessThan(MOST_GROWN_MB);
    expect(cluster.logs('workers')).not.toContain('MaxListenersExceeded');
  });
});

describe('an open stream', () => {
  test('outlives_new_workers_a_reload_of_nginx_and_the_drain_of_its_pod (R-008, R-024)', async () => {
    const lease = await scale({ pool: 'ocr', pods: 2, ttl_s: 300 });
    await cluster.whole(4);
    POOLS.ocr.script(scripts.slow);
    const body = { ...asked('talk at length'), stream: true };
    const streams = await Promise.all(
      Array.from({ length: 4 }, () => openStream(`${cluster.url}${CHAT}`, body)),
    );
    const ends = streams.map((stream) => stream.rest());
    await expect.poll(async () => (await POOLS.ocr.stats()).map((one) => one.running), SOON).toEqual([2, 2]);

    const old = new Set((await cluster.status()).workers.map(({ boot_id }) => boot_id));
    cluster.kill('workers', 'SIGHUP');
    await cluster.until('new workers take requests', ({ workers }) => {
      const fresh = workers.filter(
        ({ worker, boot_id, state }) => worker >= 0 && state === 'listening' && !old.has(boot_id),
      );
      return fresh.length === 2;
    });
    cluster.kill('nginx', 'SIGHUP');
    await scale({ pool: 'ocr', lease, pods: 0 });
    const draining = await cluster.until('a pod drains', ({ summary }) => summary.pods_draining === 1);
    const leaving = draining.pods.find(({ state }) => state === 'draining');
    expect(leaving).toMatchObject({ pool: 'ocr', inflight: 2 });
    const reply = await ours.chat.completions.create({ ...asked('hello'), max_tokens: 1 });
    expect(reply.choices).toHaveLength(1);
    expect(streams.filter(({ response }) => response.readableEnded || response.errored)).toEqual([]);

    await POOLS.ocr.goOn(scripts.fast);
    const got = await Promise.all(ends);
    const wanted = await (await openStream(`${POOLS.ocr.direct()}${CHAT}`, body)).rest();
    expect(wanted.bytes).toBeGreaterThan(100_000);
    expect(got).toEqual(streams.map(() => wanted));
    await cluster.until('the drained pod is gone', ({ pods }) => !pods.some(({ id }) => id === leaving?.id));
    await cluster.whole(3);
  });
});

describe('one pod of 512 places (R-073)', () => {
  const chat = async (n: number) => {
    const answer = await send(cluster.url, CHAT, { ...asked(`${n}`), max_tokens: 2, stream: n % 2 === 0 });
    await answer.arrayBuffer();
    return answer.status;
  };
  const page = async (bytes: Uint8Array<ArrayBuffer>) => {
    const answer = await fetch(`${cluster.url}/v1/ocr`, {
      ...{ method: 'POST', headers: { 'content-type': 'image/png' }, body: bytes },
    });
    await answer.arrayBuffer();
    return answer.status;
  };

  test.each([
    [64, 'chats'],
    [WIDTH, 'chats'],
    [64, 'pages'],
    [WIDTH, 'pages'],
  ] as const)('%d_%s_are_all_in_the_engine_at_once', async (count, what) => {
    const white = new Uint8Array(await whitePage());
    POOLS.ocr.script(scripts.held);
    const startedMs = performance.now();
    const all = Array.from({ length: count }, (_, n) => (what === 'chats' ? chat(n) : page(white)));
    await expect.poll(running, { interval: 50, timeout: 40_000 }).toBe(count);
    report(`${count} ${what} ran in the engine after ${Math.round(performance.now() - startedMs)} ms`);
    expect((await POOLS.ocr.stats()).map((one) => one.waiting)).toEqual([0]);
    await POOLS.ocr.goOn(scripts.fast);
    expect((await Promise.all(all)).filter((status) => status !== 200)).toEqual([]);
  });
});

/** Takes, changes or releases a lease; returns its id. */
async function scale(body: object): Promise<string> {
  const answer = await send(cluster.url, '/v1/fleet/scale', body);
  const told = (await answer.json()) as { lease: string };
  expect(answer.status, JSON.stringify(told)).toBe(200);
  return told.lease;
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

/** Figures for who looks at the output of a run. */
function report(line: string): void {
  process.stdout.write(`  ${line}\n`);
}
