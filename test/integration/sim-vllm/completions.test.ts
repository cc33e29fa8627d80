import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ask, eventsOf, startVllm, type VllmOptions, type VllmProcess } from './vllm-process.ts';

const CHAT = '/v1/chat/completions';

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly role?: string;
      readonly content?: string;
      readonly tool_calls?: readonly Call[];
    };
    readonly finish_reason: string | null;
    readonly logprobs: { readonly content: readonly { readonly token: string }[] } | null;
  }[];
  readonly usage?: { readonly completion_tokens: number };
}
interface Call {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}

async function withVllm(options: VllmOptions, use: (vllm: VllmProcess) => Promise<void>): Promise<void> {
  const vllm = await startVllm(options);
  try {
    await use(vllm);
  } finally {
    await vllm.close();
  }
}

test('a stream begins with its role, ends with its usage and its mark, and says what the whole body says (R-024)', () =>
  withVllm({ script: { rules: [{ reply: { text: 'Grüße aus 東京 🜲 and more' } }] } }, async (vllm) => {
    const options = { stream: true, stream_options: { include_usage: true }, logprobs: true };
    const events = eventsOf(await (await vllm.post(CHAT, ask('hi', options))).text());
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as Chunk);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(text).toBe('Grüße aus 東京 🜲 and more');
    const tokens = chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []);
    expect(tokens.map(({ token }) => token).join('')).toBe(text);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: tokens.length } });
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    const whole = await (await vllm.post(CHAT, ask('hi'))).json();
    expect(whole).toMatchObject({ choices: [{ message: { content: text }, finish_reason: 'stop' }] });
  }));

test('interleaved tool calls are told apart by their index (R-024)', () => {
  const toolCalls = [
    { name: 'a', arguments: { x: 'one two' } },
    { name: 'b', arguments: { y: [1, 2, 3] } },
  ];
  return withVllm({ script: { rules: [{ reply: { toolCalls, interleave: true } }] } }, async (vllm) => {
    const events = eventsOf(await (await vllm.post(CHAT, ask('go', { stream: true }))).text());
    const calls = events
      .slice(0, -1)
      .flatMap((event) => (JSON.parse(event) as Chunk).choices[0]?.delta.tool_calls ?? []);
    const order = calls.map(({ index }) => index);
    expect(order).not.toEqual([...order].sort((a, b) => a - b));
    for (const [at, call] of toolCalls.entries()) {
      const own = calls.filter(({ index }) => index === at);
      expect(own.map((fragment) => fragment.function.arguments).join('')).toBe(
        JSON.stringify(call.arguments),
      );
      expect(own.filter(({ id }) => id !== undefined)).toHaveLength(1);
    }
    expect(events.at(-2)).toContain('"finish_reason":"tool_calls"');
  });
});

test('a repeatable server gives the same bytes twice', () => {
  const script = { repeatable: true, cuts: 1, rules: [{ reply: { text: '東京 '.repeat(60) } }] };
  return withVllm({ script }, async (vllm) => {
    const read = async (): Promise<string> => (await vllm.post(CHAT, ask('hi', { stream: true }))).text();
    const [first, second] = [await read(), await read()];
    expect(eventsOf(first).at(-1)).toBe('[DONE]');
    expect(second).toBe(first);
  });
});

test('refusals have the form of vLLM: unknown model, too long a context, bad picture, n, no key', () =>
  withVllm({ args: ['--max-model-len', '50', '--api-key', 'k'] }, async (vllm) => {
    const status = async (body: object) => {
      const answer = await fetch(`${vllm.url}${CHAT}`, {
        method: 'POST',
        headers: { authorization: 'Bearer k' },
        body: JSON.stringify(body),
      });
      const { error } = (await answer.json()) as { error?: { type: string; code: number } };
      return [answer.status, error?.type, error?.code];
    };
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(await status({ ...ask('hi'), model: 'none' })).toEqual([404, 'NotFoundError', 404]);
    expect(await status(ask('word '.repeat(60)))).toEqual([400, 'BadRequestError', 400]);
    expect(await status(ask('hi', { max_tokens: 50 }))).toEqual([400, 'BadRequestError', 400]);
    expect(await status(ask('hi', { n: 2 }))).toEqual([400, 'BadRequestError', 400]);
    const withPicture = { model: 'test/model', messages: [{ role: 'user', content: [picture] }] };
    expect(await status(withPicture)).toEqual([400, 'BadRequestError', 400]);
    const noKey = await vllm.post(CHAT, ask('hi'));
    expect([noKey.status, await noKey.json()]).toEqual([401, { error: 'Unauthorized' }]);
    expect((await fetch(`${vllm.url}/health`)).status).toBe(200);
    expect(vllm.requests().map(({ end }) => end)).toEqual(Array(5).fill('refused'));
    expect(vllm.starts()[0]?.argv).not.toContain('k');
  }));

test('a reply goes on where it was cut (R-070)', () =>
  withVllm({ script: { rules: [{ reply: { text: 'one two three four' } }] } }, async (vllm) => {
    const text = async (body: object) =>
      (
        (await (await vllm.post(CHAT, body)).json()) as {
          choices: [{ message: { content: string }; finish_reason: string }];
        }
      ).choices[0];
    const cut = await text(ask('hi', { max_tokens: 2 }));
    expect(cut).toMatchObject({ finish_reason: 'length', message: { content: 'one two' } });
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'one two' },
    ];
    const goesOn = { continue_final_message: true, add_generation_prompt: false };
    const rest = await text({ model: 'test/model', messages, ...goesOn });
    expect(rest.message.content).toBe(' three four');
    const both = await vllm.post(CHAT, { model: 'test/model', messages, continue_final_message: true });
    expect(both.status).toBe(400);
  }));

test('a hang-up frees the sequence at once and counts what was generated for nobody (R-071)', () =>
  withVllm({ script: { rules: [{ reply: { loop: 'on and ' } }] } }, async (vllm) => {
    const hangUp = new AbortController();
    const { body } = await vllm.post(CHAT, ask('hi', { stream: true }), hangUp.signal);
    await body?.getReader().read();
    expect(await vllm.stats()).toMatchObject({ running: 1 });
    hangUp.abort();
    while ((await vllm.stats()).running !== 0) await wait(5);
    const [record] = vllm.requests();
    expect(record).toMatchObject({ end: 'aborted' });
    expect(record?.wastedTokens).toBeGreaterThan(0);
    expect((await vllm.stats()).wastedTokens).toBe(record?.wastedTokens);
  }));

test('a reply breaks off as its script says: cut, ended early, an error inside of a 200, the death of the process', async () => {
  const text = 'one two three four five';
  await withVllm({}, async (vllm) => {
    const stream = ask('hi', { stream: true });
    vllm.setScript({ rules: [{ reply: { text, truncate: 3 } }] });
    await expect((await vllm.post(CHAT, stream)).text()).rejects.toThrow();
    vllm.setScript({ rules: [{ reply: { text, endsEarly: 2 } }] });
    const early = await (await vllm.post(CHAT, stream)).text();
    expect(early).toContain('"content":"one two"');
    expect(early).not.toContain('[DONE]');
    vllm.setScript({ rules: [{ reply: { text, error: { status: 500, message: 'boom', afterTokens: 2 } } }] });
    const failed = await vllm.post(CHAT, stream);
    expect(failed.status).toBe(200);
    expect(JSON.parse(eventsOf(await failed.text()).at(-2) ?? '')).toEqual({
      error: { message: 'boom', type: 'InternalServerError', param: null, code: 500 },
    });
    vllm.setScript({ rules: [{ reply: { error: { status: 503 } } }] });
    expect((await vllm.post(CHAT, stream)).status).toBe(503);
    vllm.setScript({ dead: true });
    const health = await fetch(`${vllm.url}/health`);
    expect([health.status, await health.text()]).toEqual([503, '']);
    vllm.setScript({ rules: [{ reply: { text, dies: 2 } }] });
    await expect((await vllm.post(CHAT, stream)).text()).rejects.toThrow();
    if (vllm.child.exitCode === null) await once(vllm.child, 'exit');
    expect(vllm.child.exitCode).toBe(1);
    expect(vllm.requests().map(({ end }) => end)).toEqual(['died', 'died', 'died', 'refused', 'died']);
  });
});

test('a start without memory says so, says that it is simulated, and ends with 1 before it ever listened', async () => {
  const vllm = await startVllm({ script: { startFails: 'oom' }, ready: false });
  try {
    if (vllm.child.exitCode === null) await once(vllm.child, 'close');
    expect(vllm.child.exitCode).toBe(1);
    expect(vllm.log()).toContain('CUDA out of memory (simulated');
    expect(vllm.starts()).toHaveLength(1);
  } finally {
    await vllm.close();
  }
});

test('512 requests run as 512 when so many may, and the metrics bear the names of vLLM (R-043)', () => {
  const rules = [{ reply: { text: 'word '.repeat(100), slowFirstTokenMs: 1_500 } }];
  return withVllm({ script: { rules }, args: ['--max-num-seqs', '512'] }, async (vllm) => {
    const answers = Array.from({ length: 512 }, (_, at) =>
      vllm.post(CHAT, ask(`hi ${at}`, { stream: true })).then((answer) => answer.text()),
    );
    const bodies = await Promise.all(answers);
    expect(bodies.every((body) => body.endsWith('data: [DONE]\n\n'))).toBe(true);
    expect(await vllm.stats()).toMatchObject({ maxRunning: 512, running: 0, waiting: 0, requests: 512 });
    const metrics = await (await fetch(`${vllm.url}/metrics`)).text();
    expect(metrics).toContain(
      'vllm:request_success_total{engine="0",model_name="test/model",finished_reason="stop"} 512',
    );
    expect(metrics).toContain('vllm:kv_cache_usage_perc{engine="0",model_name="test/model"} 0');
  });
});

test('models, completions and embeddings', () =>
  withVllm({ args: ['--lora-modules', 'ad=/adapter'] }, async (vllm) => {
    const models = (await (await fetch(`${vllm.url}/v1/models`)).json()) as { data: object[] };
    expect(models.data).toMatchObject([
      { id: 'test/model', root: 'test/model', parent: null, max_model_len: 32_768 },
      { id: 'ad', root: '/adapter', parent: 'test/model' },
    ]);
    const completion = await vllm.post('/v1/completions', { model: 'ad', prompt: 'once', max_tokens: 3 });
    expect(await completion.json()).toMatchObject({
      object: 'text_completion',
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: 3 },
    });
    const embed = async (input: string) =>
      (await (await vllm.post('/v1/embeddings', { model: 'ad', input })).json()) as {
        data: [{ embedding: number[] }];
      };
    const [one, again, other] = [await embed('one'), await embed('one'), await embed('two')];
    expect(one.data).toEqual(again.data);
    expect(one.data).not.toEqual(other.data);
    expect(Math.hypot(...one.data[0].embedding)).toBeCloseTo(1, 6);
  }));
