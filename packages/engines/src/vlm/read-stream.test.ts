import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BrokenReply } from './model-server.ts';
import { readStream } from './read-stream.ts';

const event = (content: string, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: null, ...more }] })}\n\n`;
const END = `${event('', { finish_reason: 'stop' })}data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n`;

async function* cut(text: string, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(body: AsyncIterable<Uint8Array>) {
  const pieces = [];
  for await (const piece of readStream(body)) pieces.push(piece);
  return {
    text: pieces.map(({ text }) => text).join(''),
    finish: pieces.map(({ finishReason }) => finishReason).find((reason) => reason !== null),
    usage: pieces.map(({ usage }) => usage).find((usage) => usage !== null),
  };
}

test('however_a_stream_is_cut_it_says_the_same (R-024, R-072)', async () => {
  const texts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 });
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(texts, sizes, async (said, chunks) => {
      const stream = `: hello\n\n${said.map((text) => event(text)).join('')}${END}`;
      expect(await read(cut(stream, chunks))).toEqual({
        text: said.join(''),
        finish: 'stop',
        usage: { promptTokens: 3, completionTokens: 2 },
      });
    }),
  );
});

test.each([
  ['that_breaks_off', event('half a re')],
  ['that_breaks_off_after_its_finish_reason', event('x', { finish_reason: 'stop' })],
  [
    'with_an_error_in_it',
    `${event('x')}data: {"error":{"message":"engine died","code":500}}\n\ndata: [DONE]\n\n`,
  ],
  ['that_is_no_json', `data: <html>\n\n${END}`],
  ['that_is_no_completion', `data: {"hello":1}\n\n${END}`],
  ['that_is_empty', ''],
])('a_stream_%s_is_no_reply (R-024)', async (_what, stream) => {
  await expect(read(cut(stream, [7]))).rejects.toThrow(BrokenReply);
});

test('whoever_stops_listening_closes_the_connection_and_a_whole_stream_is_read_to_its_end (R-071)', async () => {
  const seen: string[] = [];
  async function* watched(text: string) {
    try {
      yield* cut(text, [20]);
      seen.push('read to its end');
    } finally {
      seen.push('closed');
    }
  }
  for await (const _piece of readStream(watched(event('a').repeat(9) + END))) break;
  expect(seen).toEqual(['closed']);
  seen.length = 0;
  await read(watched(event('a') + END));
  expect(seen).toEqual(['read to its end', 'closed']);
});
