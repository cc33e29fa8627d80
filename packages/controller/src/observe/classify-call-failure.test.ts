import { describe, expect, test } from 'vitest';
import { classifyCallFailure } from './classify-call-failure.ts';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

describe('what a failed call says about a pod', () => {
  test.each([
    ['EMFILE', 'ours'],
    ['ENOBUFS', 'ours'],
    ['ENETUNREACH', 'ours'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['EHOSTUNREACH', 'timeout'],
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'refused'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'unproven'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_RECORD_MAC', 'unproven'],
    ['E_NEVER_HEARD_OF', 'refused'],
  ])('%s is %s', (code, outcome) => {
    expect(classifyCallFailure(withCode(code))).toBe(outcome);
  });

  test('a_shortage_of_ours_is_found_however_deep_it_is_wrapped_and_beats_everything (R-026)', () => {
    const inner = new AggregateError([withCode('ECONNREFUSED'), withCode('EMFILE')]);
    expect(classifyCallFailure(new Error('fetch failed', { cause: inner }))).toBe('ours');
  });
});
