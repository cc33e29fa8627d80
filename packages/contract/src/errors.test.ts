import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode, isErrorCode, PagefleetError, toErrorBody } from './errors.ts';

const codes = Object.keys(ERRORS) as ErrorCode[];

describe('the error catalogue', () => {
  test('overload_is_429_and_an_outage_is_503 (R-013)', () => {
    expect(ERRORS.queue_full.httpStatus).toBe(429);
    expect(ERRORS.no_capacity.httpStatus).toBe(503);
  });

  test('no_code_that_may_be_repeated_blames_the_request', () => {
    for (const code of codes) {
      const { httpStatus, retry } = ERRORS[code];
      if (retry === 'after') expect([429, 503], code).toContain(httpStatus);
      if (httpStatus === 400 || httpStatus === 422 || httpStatus === 413) expect(retry, code).toBe('never');
    }
  });

  test('422_is_only_for_one_page_so_that_a_whole_answer_never_has_it (official clients expect a list there)', () => {
    expect(
      codes.filter((code) => ERRORS[code].httpStatus === 422).every((code) => code.startsWith('page_')),
    ).toBe(true);
  });

  test('every_row_explains_itself', () => {
    for (const code of codes) expect(ERRORS[code].doc, code).toMatch(/^[A-Z].+\.$/);
  });

  test('a_body_carries_message_code_param_and_request_id_and_no_cause', () => {
    const error = new PagefleetError('bad_request', 'pages must be a list', {
      details: { param: 'pages', got: 7 },
      cause: new Error('http://10.0.0.1:9 token abc'),
    });
    expect(toErrorBody(error, 'r1')).toEqual({
      object: 'error',
      message: 'pages must be a list',
      type: 'invalid_request_error',
      param: 'pages',
      code: 'bad_request',
      request_id: 'r1',
      got: 7,
    });
  });

  test('what_a_client_sent_is_quoted_within_bounds', () => {
    const long = 'ä'.repeat(20_000);
    const body = toErrorBody(new PagefleetError('bad_request', long, { details: { param: long } }));
    expect(body.message).toHaveLength(1_000);
    expect(body.param).toHaveLength(100);
    expect(JSON.stringify(body).length * 6).toBeLessThan(16_000);
  });

  test('details_cannot_overwrite_the_code', () => {
    const error = new PagefleetError('internal', 'x', { details: { code: 'queue_full', message: 'y' } });
    expect(toErrorBody(error)).toMatchObject({ code: 'internal', message: 'x' });
  });

  test('a_word_that_is_no_code_is_told_apart', () => {
    expect(isErrorCode('queue_full')).toBe(true);
    expect(isErrorCode('toString')).toBe(false);
  });
});
