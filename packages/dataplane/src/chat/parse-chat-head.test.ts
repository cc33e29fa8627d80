import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseChatHead } from './parse-chat-head.ts';

const head = (text: string) => parseChatHead(Buffer.from(text));
const codeOf = (text: string): unknown => {
  try {
    return head(text);
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

/** As the whole body would be read. */
function parsed(text: string): unknown {
  const { model, stream } = JSON.parse(text) as { model?: unknown; stream?: unknown };
  return typeof model === 'string' && model !== '' ? { model, isStream: stream === true } : 'not_found';
}

const body = fc
  .record(
    {
      model: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      stream: fc.oneof(fc.boolean(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  )
  .chain((named) =>
    fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()).map((more) => ({ ...more, ...named })),
  );

describe('the head of a request for a chat', () => {
  test('is_what_the_whole_body_says_however_it_is_laid_out', () => {
    fc.assert(
      fc.property(body, fc.constantFrom(0, 1, 4, '\t', '\r\n '), (said, indent) => {
        const text = JSON.stringify(
          said,
          null,
          typeof indent === 'string' && /\r/.test(indent) ? '' : indent,
        );
        const laidOut = typeof indent === 'string' ? `${indent}${text}${indent}` : text;
        expect(codeOf(laidOut)).toEqual(parsed(laidOut));
      }),
      { numRuns: 500 },
    );
  });

  test('of_a_body_that_breaks_off_or_goes_on_there_is_none', () => {
    fc.assert(
      fc.property(body, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (said, share) => {
        const bytes = Buffer.from(JSON.stringify(said));
        const cut = bytes.subarray(0, Math.floor(bytes.length * share));
        expect(() => parseChatHead(cut)).toThrow(
          expect.objectContaining({ code: cut.length === 0 ? 'empty_body' : 'bad_request' }),
        );
        expect(() => parseChatHead(Buffer.concat([bytes, Buffer.from('}')]))).toThrow(
          expect.objectContaining({ code: 'bad_request' }),
        );
      }),
    );
  });

  test.each([
    ['{"model":"a","model":"b","stream":true,"stream":false}', { model: 'b', isStream: false }],
    ['{"mod\\u0065l":"\\u0061\\"b\\\\"}', { model: 'a"b\\', isStream: false }],
    ['{"x":{"model":"inner"},"y":["}",{"stream":true}],"model":"a"}', { model: 'a', isStream: false }],
    ['{"model":"a","stream":"true"}', { model: 'a', isStream: false }],
    ['{"model":7}', 'not_found'],
    ['{"model":""}', 'not_found'],
    ['{}', 'not_found'],
    ['[]', 'bad_request'],
    ['"model"', 'bad_request'],
    ['{"model"', 'bad_request'],
    ['{"model":"a",}', 'bad_request'],
    ['{,"model":"a"}', 'bad_request'],
    ['{"model":"a" "stream":true}', 'bad_request'],
    ['{"model":}', 'bad_request'],
    ['{model:"a"}', 'bad_request'],
    ['{"model":"\\x"}', 'bad_request'],
    ['', 'empty_body'],
    [' \n', 'empty_body'],
  ])('%s', (text, expected) => {
    expect(codeOf(text)).toEqual(expected);
  });

  test('of_thirty_megabytes_of_small_things_is_read_without_building_them (R-018)', () => {
    const small = Buffer.from('{},'.repeat(10_000_000));
    const bytes = Buffer.concat([Buffer.from('{"x":['), small, Buffer.from('{}],"model":"a"}')]);
    const before = process.memoryUsage().heapUsed;
    expect(parseChatHead(bytes)).toEqual({ model: 'a', isStream: false });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50 * 1024 * 1024);
  });
});
