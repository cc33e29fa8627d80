import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, MAX_DURATION_DAYS, parseDuration } from './duration.ts';

describe('one parser for every duration (R-103)', () => {
  test.each([
    ['0', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
  ])('%s_is_%i_milliseconds', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ok: true, ms });
  });

  test.each(['', '10', 'ten', '-5s', '5 s', '5w', '1e3s', 's'])(
    '"%s"_is_refused_with_the_expected_form',
    (text) => {
      const result = parseDuration(text);
      expect(result.ok).toBe(false);
      expect(!result.ok && result.reason).toContain('90s, 10m, 2h or 7d');
    },
  );

  test('the_maximum_is_accepted_and_one_more_day_is_out_of_range_with_the_maximum_named', () => {
    expect(parseDuration(`${MAX_DURATION_DAYS}d`).ok).toBe(true);
    const over = parseDuration(`${MAX_DURATION_DAYS + 1}d`);
    expect(!over.ok && over.reason).toMatch(/out of range.*106751d/);
  });

  test('what_is_formatted_parses_back_to_the_same_milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_DURATION_DAYS * 86_400_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ ok: true, ms });
      }),
    );
  });
});
