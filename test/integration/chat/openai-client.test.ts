import type OpenAI from 'openai';
import { APIError, BadRequestError, NotFoundError } from 'openai';
import { describe, expect, test } from 'vitest';
import { type ChatRig, LORA, MODEL, startChat } from './chat-rig.ts';

const CHAT = '/v1/chat/completions';
const TOOLS: OpenAI.ChatCompletionTool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { place: { type: 'string' } } } },
}));
const CALLS = {
  rules: [
    {
      when: { textContains: 'call' },
      reply: {
        interleave: true,
        toolCalls: [
          { name: 'weather', arguments: { place: 'Brno – žižkov' } },
          { name: 'time', arguments: { place: 'Oslo' } },
        ],
      },
    },
  ],
};
const asked = (content: string) => ({ model: MODEL, messages: [{ role: 'user' as const, content }] });

/** The same body to both; what came back must not differ by a byte. */
async function expectSameBytes({ post, postDirect }: ChatRig, path: string, body: object): Promise<string> {
  const [through, straight] = [await post(path, body), await postDirect(path, body)];
  const [got, wanted] = [await bytesOf(through), await bytesOf(straight)];
  expect(got).toEqual(wanted);
  expect([through.status, through.headers.get('content-type')]).toEqual([
    straight.status,
    straight.headers.get('content-type'),
  ]);
  return got.toString('utf8');
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

describe('the official openai client, only its baseURL changed (R-024)', () => {
  test('two_interleaved_tool_calls_streamed_and_buffered_are_what_the_pod_says', async () => {
    const chat = await startChat({ script: CALLS });
    const body = { ...asked('call both'), tools: TOOLS };
    const raw = await expectSameBytes(chat, CHAT, { ...body, stream: true });
    expect(raw).toContain('"index":1');
    expect(raw.endsWith('data: [DONE]\n\n')).toBe(true);
    await expectSameBytes(chat, CHAT, body);

    for (const buffered of [false, true]) {
      const complete = async (client: OpenAI) =>
        buffered
          ? await client.chat.completions.create(body)
          : await client.chat.completions.stream(body).finalChatCompletion();
      const got = await complete(chat.ours);
      expect(got).toEqual(await complete(chat.direct));
      const { message, finish_reason } = got.choices[0] as OpenAI.ChatCompletion.Choice;
      expect(finish_reason).toBe('tool_calls');
      expect(message.content ?? null).toBeNull();
      const calls = (message.tool_calls ?? []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
      expect(calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual([
        ['weather', { place: 'Brno – žižkov' }],
        ['time', { place: 'Oslo' }],
      ]);
    }
    await chat.rig.expectAllGivenBack();
  });

  test('logprobs_and_usage_come_through_and_the_tokens_are_counted', async () => {
    const chat = await startChat({ script: { rules: [{ reply: { text: 'Grüße aus Žižkov, 東京' } }] } });
    const body = { ...asked('say it'), logprobs: true, top_logprobs: 2 };
    const streamed = { ...body, stream: true as const, stream_options: { include_usage: true } };
    await expectSameBytes(chat, CHAT, streamed);
    await expectSameBytes(chat, CHAT, body);
    const whole = await chat.ours.chat.completions.create(body);
    expect(whole.choices[0]?.logprobs?.content?.length).toBeGreaterThan(2);
    expect(whole.choices[0]?.message.content).toBe('Grüße aus Žižkov, 東京');
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of await chat.ours.chat.completions.create(streamed)) usage = chunk.usage ?? usage;
    expect(usage).toEqual(whole.usage);
    // Four answers went through us.
    const counted = 4 * (whole.usage?.completion_tokens ?? 0);
    const metrics = await (await fetch(`${chat.rig.url}/metrics`)).text();
    expect(metrics).toContain(`pagefleet_chat_tokens_total{pool="ocr",kind="completion"} ${counted}`);
    expect(metrics).toContain('pagefleet_chat_total{pool="ocr",outcome="ok"} 4');
  });

  test('plain_completions_and_embeddings_pass_as_bytes', async () => {
    const chat = await startChat();
    const prompt = { model: MODEL, prompt: 'once upon', max_tokens: 8 };
    await expectSameBytes(chat, '/v1/completions', prompt);
    await expectSameBytes(chat, '/v1/completions', { ...prompt, stream: true });
    // The simulation numbers and dates its answers here; everything else is the same.
    const vectors = async (response: Response) =>
      (await response.text()).replace(/"id":"[^"]*"|"created":\d+/g, '');
    const input = { model: MODEL, input: ['a', 'b'] };
    const through = await vectors(await chat.post('/v1/embeddings', input));
    expect(through).toBe(await vectors(await chat.postDirect('/v1/embeddings', input)));
    expect(JSON.parse(await (await chat.post('/v1/embeddings', input)).text()).data).toHaveLength(2);
  });

  test('a_400_of_the_model_server_is_passed_on_as_it_is_and_the_pod_is_not_blamed', async () => {
    const chat = await startChat();
    const tooLong = { ...asked('word '.repeat(6_000)), max_tokens: 100 };
    const raw = await expectSameBytes(chat, CHAT, tooLong);
    expect(JSON.parse(raw)).toMatchObject({ error: { type: 'BadRequestError', code: 400 } });
    const failure = (client: OpenAI) => client.chat.completions.create(tooLong).catch((error) => error);
    const [got, wanted] = [await failure(chat.ours), await failure(chat.direct)];
    expect(got).toBeInstanceOf(BadRequestError);
    expect([got.message, got.error]).toEqual([wanted.message, wanted.error]);
    expect(chat.rig.dataplane.report().pods.pod?.suspect).toBeUndefined();
  });

  test('an_adapter_is_asked_for_by_its_name_and_an_unknown_model_is_404_in_openais_shape', async () => {
    const chat = await startChat();
    const answer = await chat.ours.chat.completions.create({ ...asked('hello'), model: LORA });
    expect(answer.model).toBe(LORA);
    expect(
      (await chat.ours.chat.completions.create({ ...asked('hello'), model: 'olmocr' })).choices,
    ).toHaveLength(1);

    for (const [model, said] of [
      ['nobody', /no pool serves the model "nobody"; known are ocr, fine-ocr, olmocr$/],
      ['mistral-ocr-latest', /no pool serves/],
      ['paper', /has no model server/],
    ] as const) {
      const failure = await chat.ours.chat.completions.create({ ...asked('x'), model }).catch((e) => e);
      expect(failure, model).toBeInstanceOf(NotFoundError);
      expect(failure.error, model).toMatchObject({
        message: expect.stringMatching(said),
        ...{ type: 'invalid_request_error', param: 'model', code: 'not_found' },
      });
    }
    const without = await chat.post(CHAT, { messages: [] });
    expect([without.status, await without.json()]).toMatchObject([404, { error: { param: 'model' } }]);
    const broken = await fetch(`${chat.rig.url}${CHAT}`, { method: 'POST', body: '{"model":' });
    expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: 'bad_request' } }]);
    await chat.rig.expectAllGivenBack();
  });

  test('an_error_event_of_the_model_server_reaches_the_client_as_it_is', async () => {
    const chat = await startChat({
      script: { rules: [{ reply: { text: 'one two three', error: { status: 500, afterTokens: 2 } } }] },
    });
    const raw = await expectSameBytes(chat, CHAT, { ...asked('x'), stream: true });
    expect(raw).toContain('data: {"error"');
    const stream = await chat.ours.chat.completions.create({ ...asked('x'), stream: true });
    await expect(drain(stream)).rejects.toBeInstanceOf(APIError);
  });
});

async function drain(stream: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of stream) count += 1;
  return count;
}
