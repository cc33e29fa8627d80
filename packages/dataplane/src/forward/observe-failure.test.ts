import { describe, expect, test } from 'vitest';
import { limitOf, observeFailure, observeStatus, parseRefusal } from './observe-failure.ts';
import { ConnectFailure } from './pod-connector.ts';

const failure = (code: string) => Object.assign(new Error(code), { code });

describe('what a failed dispatch is (R-026, L14)', () => {
  test.each([
    ['ECONNREFUSED', 'not_sent'],
    ['UND_ERR_CONNECT_TIMEOUT', 'not_sent'],
    ['ECONNRESET', 'not_sent'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'not_sent'],
    ['EADDRNOTAVAIL', 'shortage'],
    ['EMFILE', 'shortage'],
  ])('%s_before_there_is_a_connection_is_%s', (code, kind) => {
    expect(observeFailure(new ConnectFailure(failure(code)), null)).toEqual({ kind });
  });

  test.each([
    ['ECONNRESET', 'cut'],
    ['EHOSTUNREACH', 'cut'],
    ['EPIPE', 'cut'],
    ['UND_ERR_SOCKET', 'cut'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timed_out'],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'bad_answer'],
    ['EMFILE', 'shortage'],
    ['UND_ERR_DESTROYED', 'shortage'],
  ])('%s_on_a_connection_is_%s', (code, kind) => {
    expect(observeFailure(failure(code), null)).toEqual({ kind });
  });

  test('what_we_ended_ourselves_is_what_we_ended_it_for', () => {
    expect(observeFailure(failure('ECONNRESET'), 'client_gone')).toEqual({ kind: 'client_gone' });
  });

  test('whatever_else_happens_the_reading_may_still_run', () => {
    for (const strange of [null, undefined, 'text', new Error('x')])
      expect(observeFailure(strange, null)).toEqual({ kind: 'cut' });
  });
});

describe('the limit of a shortage (R-026)', () => {
  test.each([
    ['EMFILE', 'open files of this process (EMFILE)'],
    ['UND_ERR_CLOSED', 'connections of this process'],
    [null, 'connections of this process'],
  ])('of_%s_is_named', (reason, limit) => expect(limitOf(reason)).toBe(limit));
});

describe('what a pod says', () => {
  test('is_passed_on_only_with_a_code_of_the_catalogue_and_without_its_address (R-025)', () => {
    expect(parseRefusal('{"code":"page_too_large","message":"too large"}', ['x:1'])).toMatchObject({
      message: 'too large',
    });
    expect(parseRefusal('{"code":"page_too_large","message":"at x:1"}', ['x:1'])).toMatchObject({
      message: null,
    });
    expect(parseRefusal('{"code":"own","message":"m"}', [])).toEqual({
      code: null,
      message: null,
      param: null,
    });
    expect(parseRefusal('<html>', [])).toEqual({ code: null, message: null, param: null });
  });

  test.each([502, 520, 522, 524])(
    'a_%i_of_the_proxy_on_the_way_is_a_broken_way_and_says_nothing_of_the_page (R-021, L14)',
    (status) => {
      const silent = { code: null, message: null, param: null };
      expect(observeStatus(status, silent)).toEqual({ kind: 'cut' });
      const said = { ...silent, code: 'engine_failed' } as const;
      expect(observeStatus(status, said)).toEqual({ kind: 'status', status, code: 'engine_failed' });
    },
  );

  test('about_a_language_it_lacks_is_the_requests_fault', () => {
    const missing = { code: 'bad_request', message: 'm', param: 'languages' } as const;
    expect(observeStatus(400, missing)).toEqual({ kind: 'status', status: 422 });
    expect(observeStatus(400, { ...missing, param: 'x-page-id' })).toEqual({
      kind: 'status',
      status: 400,
      code: 'bad_request',
    });
  });
});
