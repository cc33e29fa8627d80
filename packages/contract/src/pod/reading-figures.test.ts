import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseReadings, REJECTIONS, writeReadings } from './reading-figures.ts';

describe('what a page has cost to read, as a header', () => {
  test('comes_back_as_it_was_written', () => {
    const rejected = fc.record({ why: fc.constantFrom(...REJECTIONS), tokens: fc.nat(999_999_999) });
    fc.assert(
      fc.property(fc.nat(1_000), fc.array(rejected, { maxLength: 63 }), (asked, list) => {
        const figures = { asked, rejected: list };
        expect(parseReadings(writeReadings(figures))).toEqual(figures);
      }),
    );
  });

  test.each([
    undefined,
    '',
    'looped=3',
    'asked=x',
    'asked=-1',
    'asked=1234567890',
    'asked',
    `asked=1${', cut=1'.repeat(64)}`,
  ])('%s_is_none', (header) => {
    expect(parseReadings(header)).toBeNull();
  });

  test('what_another_version_says_is_left_out', () => {
    expect(parseReadings('asked=2, dreamt=5, looped=7, cut=')).toEqual({
      asked: 2,
      rejected: [{ why: 'looped', tokens: 7 }],
    });
  });
});
