import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatBytes, parseBytes } from './bytes.ts';

test.each([
  ['0', 0],
  ['50MB', 50_000_000],
  ['256MiB', 268_435_456],
  ['1.5KB', 1_500],
  ['12B', 12],
])('%s_is_%i_bytes', (text, bytes) => {
  expect(parseBytes(text)).toEqual({ ok: true, bytes });
});

test.each(['', '50', '50mb', '-1MB', '1TB', 'MB', '99999999999GB'])('"%s"_is_refused', (text) => {
  expect(parseBytes(text).ok).toBe(false);
});

test('what_is_formatted_parses_back_to_the_same_bytes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (bytes) => {
      expect(parseBytes(formatBytes(bytes))).toEqual({ ok: true, bytes });
    }),
  );
});
