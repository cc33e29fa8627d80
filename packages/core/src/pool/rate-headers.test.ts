import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRateWindows, toldWaitsMs, untoldWaitMs } from './rate-headers.ts';

const MIDNIGHT_MS = Date.UTC(2026, 10, 30);
const headers = (fields: Record<string, string>) => (name: string) => fields[name];
const waits = (fields: Record<string, string>, body: unknown = null) =>
  toldWaitsMs({ header: headers(fields), body });

describe('windows that an API tells (R-062)', () => {
  it('are_read_from_the_structured_fields', () => {
    const windows = parseRateWindows(
      headers({
        'ratelimit-policy': '"minute";q=180;w=60, "hour";q=7200;w=3600, "day";q=86400;w=86400',
        ratelimit: '"minute";r=171;t=44, "hour";t=1931;r=7012,"day";r=86399',
      }),
    );
    expect(windows).toEqual([
      { window: 'minute', limit: 180, remaining: 171, resetMs: 44_000 },
      { window: 'hour', limit: 7_200, remaining: 7_012, resetMs: 1_931_000 },
      { window: 'day', limit: 86_400, remaining: 86_399, resetMs: null },
    ]);
  });

  it('are_read_although_members_parameters_and_spaces_are_strange', () => {
    const windows = parseRateWindows(
      headers({ ratelimit: '  "a,b;r=1";r=3 , minute ; pk=:x: ; r=0 ; T=5;z, "hour";r=x, ,"week";r=1' }),
    );
    expect(windows).toEqual([{ window: 'minute', limit: null, remaining: 0, resetMs: 5_000 }]);
  });

  it('are_read_from_the_older_headers_of_GraphQL', () => {
    const told = { 'x-ratelimit-limit-day': '43200', 'x-ratelimit-remaining-day': '0' };
    expect(parseRateWindows(headers(told))).toEqual([
      { window: 'day', limit: 43_200, remaining: 0, resetMs: null },
    ]);
    expect(parseRateWindows(headers({}))).toEqual([]);
  });

  it('never_fail_on_any_text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (ratelimit, policy) => {
        for (const { remaining, limit } of parseRateWindows(
          headers({ ratelimit, 'ratelimit-policy': policy }),
        )) {
          expect(remaining).toBeGreaterThanOrEqual(0);
          expect(limit === null || limit >= 0).toBe(true);
        }
      }),
    );
  });
});

describe('waits that a refusal tells', () => {
  it('are_seconds_in_header_and_body', () => {
    expect(waits({ 'retry-after': '3939' }, { retryAfter: 11_871 })).toEqual([3_939_000, 11_871_000]);
    expect(waits({}, { retryAfter: '12' })).toEqual([12_000]);
  });

  it('hold_the_reset_of_every_empty_window_and_of_no_other', () => {
    const ratelimit = '"minute";r=0;t=44, "hour";r=0;t=1931, "day";r=5;t=61200';
    expect(waits({ 'retry-after': '12', ratelimit })).toEqual([12_000, 44_000, 1_931_000]);
  });

  it.each([['soon'], [''], ['-5'], ['1e3'], ['Mon, 30 Nov 2026 00:01:00 GMT']])(
    'are none in Retry-After: %s',
    (text) => {
      expect(waits({ 'retry-after': text }, 'text')).toEqual([]);
    },
  );
});

describe('a refusal that tells no wait', () => {
  const empty = (window: 'minute' | 'hour' | 'day') => ({ window, limit: null, remaining: 0, resetMs: null });

  it('is_obeyed_until_its_longest_empty_window_can_be_full_again', () => {
    const nowMs = MIDNIGHT_MS + 3_600_000;
    expect(untoldWaitMs([], nowMs)).toBe(60_000);
    expect(untoldWaitMs([empty('minute')], nowMs)).toBe(60_000);
    expect(untoldWaitMs([empty('minute'), empty('hour')], nowMs)).toBe(3_600_000);
    expect(untoldWaitMs([empty('day')], nowMs)).toBe(23 * 3_600_000);
  });
});
