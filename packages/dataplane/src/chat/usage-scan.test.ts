import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createUsageScan } from './usage-scan.ts';

const STREAM =
  'data: {"choices":[{"delta":{"content":"say \\"usage\\": {\\"completion_tokens\\":9} – ž"}}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}}\n\n' +
  'data: [DONE]\n\n';

function scan(text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
  const found = createUsageScan();
  for (const [n, from] of places.slice(0, -1).entries()) found.add(bytes.subarray(from, places[n + 1]));
  found.end();
  return found;
}

describe('what is learnt of an answer that passes by', () => {
  test('is_the_same_however_it_is_cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { maxLength: 20 }), (cuts) => {
        const { usage, isDone, hasError } = scan(STREAM, cuts);
        expect({ usage, isDone, hasError }).toEqual({
          usage: { prompt: 3, completion: 5 },
          ...{ isDone: true, hasError: false },
        });
      }),
    );
  });

  test('a_buffered_answer_says_its_usage_at_its_end_however_long_it_is', () => {
    const body = `{"choices":[{"x":"${'y'.repeat(500_000)}"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`;
    expect(scan(body).usage).toEqual({ prompt: 1, completion: 2 });
  });

  test('a_mark_inside_of_a_text_is_none_and_an_error_event_is_seen', () => {
    expect(scan('data: {"content":"data: [DONE]"}\n\n').isDone).toBe(false);
    expect(scan('data: {"error":{"message":"x"}}\n\n').hasError).toBe(true);
    expect(scan('{"usage":{"prompt_tokens":"many"}}').usage).toEqual({ prompt: 0, completion: 0 });
    expect(scan('{}').usage).toBeNull();
  });
});
