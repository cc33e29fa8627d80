import { expect, test } from 'vitest';
import { type AskOptions, askServer } from './ask-server.ts';
import { BrokenReply, type ModelServer, ServerRefusal, type ServerResponse } from './model-server.ts';
import { createTokenTally } from './token-tally.ts';

const JSON_TYPE = 'application/json';
const event = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: finish }] })}\n\n`;
const stream = (text: string): Answer => ({
  contentType: 'text/event-stream; charset=utf-8',
  text: `${event(text)}${event('', 'stop')}data: [DONE]\n\n`,
});
const whole = (text: string): Answer => ({
  text: JSON.stringify({
    choices: [{ message: { content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 4 },
  }),
});

interface Answer {
  readonly status?: number;
  readonly contentType?: string;
  readonly text: string;
}

/** Gives the answers in order and remembers how it was asked. */
function serverOf(...answers: Answer[]): ModelServer & { readonly asked: string[]; closed: number } {
  const server = {
    connection: {},
    asked: [] as string[],
    closed: 0,
    async post({ encode }: Parameters<ModelServer['post']>[0]): Promise<ServerResponse> {
      server.asked.push(Buffer.from(await encode()).toString());
      const answer = answers.shift();
      if (!answer) throw new Error('asked once too often');
      const { status = 200, contentType = JSON_TYPE, text } = answer;
      return { status, contentType, body: body(text) };
    },
  };
  async function* body(text: string) {
    try {
      for (let at = 0; at < text.length; at += 50) yield Buffer.from(text.slice(at, at + 50));
    } finally {
      server.closed += 1;
    }
  }
  return server;
}

const ask = (server: ModelServer, loop: AskOptions['loop'] = null) =>
  askServer(async (reply) => Buffer.from(reply), {
    ...{ server, loop },
    tally: createTokenTally(false),
    signal: new AbortController().signal,
  });

test('a_stream_is_read_as_it_comes', async () => {
  const server = serverOf(stream('some words'));
  expect(await ask(server)).toMatchObject({ text: 'some words', end: 'stop' });
  expect(server.asked).toEqual(['streamed']);
});

test('a_whole_body_in_answer_to_a_streaming_request_is_used_and_not_asked_for_again (R-072)', async () => {
  const server = serverOf(whole('whole words'));
  expect(await ask(server)).toMatchObject({ text: 'whole words', end: 'stop', tokens: 4 });
  expect(server.asked).toEqual(['streamed']);
});

test.each([400, 404, 405, 415, 422])(
  '%i_is_followed_by_one_plain_call_and_the_server_is_not_asked_to_stream_again (R-072)',
  async (status) => {
    const server = serverOf({ status, text: '{"error":{"message":"no streams"}}' }, whole('a'), whole('b'));
    expect(await ask(server)).toMatchObject({ text: 'a' });
    expect(await ask(server)).toMatchObject({ text: 'b' });
    expect(server.asked).toEqual(['streamed', 'whole', 'whole']);
  },
);

test('what_was_learnt_of_a_server_is_known_to_every_page_over_the_same_connections (R-072)', async () => {
  const first = serverOf({ status: 405, text: '' }, whole('a'));
  await ask(first);
  const second = serverOf(whole('b'));
  await ask({ post: second.post, connection: first.connection });
  const elsewhere = serverOf(stream('c'));
  await ask(elsewhere);
  expect([second.asked, elsewhere.asked]).toEqual([['whole'], ['streamed']]);
});

test('refused_both_ways_the_page_is_at_fault_and_the_server_is_asked_to_stream_the_next_one (R-072)', async () => {
  const refusal = { status: 400, text: '{"error":{"message":"too long"}}' };
  const server = serverOf(refusal, refusal, stream('next'));
  await expect(ask(server)).rejects.toMatchObject({ status: 400, body: refusal.text });
  expect(await ask(server)).toMatchObject({ text: 'next' });
  expect(server.asked).toEqual(['streamed', 'whole', 'streamed']);
});

test.each([500, 502, 503, 504, 401, 409, 429])(
  '%i_is_never_run_again_as_a_plain_call (R-072)',
  async (status) => {
    const server = serverOf({ status, text: 'why' });
    await expect(ask(server)).rejects.toThrow(ServerRefusal);
    expect(server.asked).toEqual(['streamed']);
  },
);

test.each([
  ['breaks_off', event('half')],
  ['carries_an_error', `${event('half')}data: {"error":{"message":"died"}}\n\n`],
  ['ends_without_saying_why', `${event('half')}data: [DONE]\n\n`],
  ['was_ended_by_the_server', `${event('half', 'abort')}data: [DONE]\n\n`],
])('a_reply_that_%s_after_its_first_byte_is_never_run_again (R-072)', async (_what, text) => {
  const server = serverOf({ contentType: 'text/event-stream', text });
  await expect(ask(server)).rejects.toThrow(BrokenReply);
  expect(server.asked).toEqual(['streamed']);
});

test('a_loop_is_abandoned_while_it_comes_and_the_connection_closed (R-071)', async () => {
  const endless = event('and so on ').repeat(2_000);
  const server = serverOf({ contentType: 'text/event-stream', text: endless });
  const reply = await ask(server, { firstLook: 2_000, step: 500, hits: 2 });
  expect(reply.end).toBe('looped');
  expect(reply.text.length).toBeLessThan(3_000);
  expect(reply.tokens).toBeGreaterThan(100);
  expect(server.closed).toBe(1);
});
