import { expect, test } from 'vitest';
import { isForClient } from './decide-answer.ts';

test.each([
  [200, null, true],
  [400, null, true],
  [404, null, true],
  [422, null, true],
  [400, 'bad_request', false],
  [429, 'pod_full', false],
  [429, null, false],
  [401, null, false],
  [409, 'wrong_owner', false],
  [500, null, false],
  [503, 'engine_not_ready', false],
] as const)('an_answer_%i_with_code_%s_is_the_clients_%s (R-024)', (status, code, expected) => {
  expect(isForClient({ status, contentType: 'application/json' }, code)).toBe(expected);
});

test.each([404, 400, 422])('a_page_of_the_proxy_on_the_way_is_no_answer_of_a_model_server (%i)', (status) => {
  expect(isForClient({ status, contentType: 'text/html; charset=utf-8' }, null)).toBe(false);
});
