import { PagefleetError } from '@pagefleet/contract';
import { classifyFailure } from '@pagefleet/core';
import { BrokenReply, ReplyTimeout, ServerRefusal } from '@pagefleet/engines';
import { expect, test } from 'vitest';
import type { PodEntry } from '../forward/pod-table.ts';
import { observeReading } from './observe-reading.ts';
import { DrawingFault } from './pod-model-server.ts';

const POD = { url: 'http://127.0.0.1:9', token: 't'.repeat(32) } as PodEntry;
const fault = (code: 'page_unreadable' | 'document_encrypted' | 'local_shortage') =>
  new PagefleetError(code, 'why');

test.each([
  ['a_page_without_a_usable_reply', fault('page_unreadable'), 'page_unreadable', 'report', 'none'],
  ['an_encrypted_page', fault('document_encrypted'), 'document_encrypted', 'report', 'none'],
  ['too_few_threads', fault('local_shortage'), 'local_shortage', 'retry', 'none'],
  ['a_thread_that_died', new DrawingFault(new Error('x')), 'local_shortage', 'retry', 'none'],
  ['a_full_pod', new ServerRefusal(429, '{"code":"pod_full"}'), 'pod_full', 'retry', 'none'],
  [
    'a_dead_engine',
    new ServerRefusal(503, '{"code":"engine_not_ready"}'),
    'engine_not_ready',
    'retry',
    'refusing',
  ],
  ['a_broken_reply', new BrokenReply('x'), 'engine_failed', 'retry', 'refusing'],
  ['a_slow_reply', new ReplyTimeout(5), 'page_deadline', 'retry', 'unreachable'],
  [
    'a_cut_connection',
    Object.assign(new Error('x'), { code: 'UND_ERR_SOCKET' }),
    'pod_failed',
    'retry',
    'unreachable',
  ],
])('%s_is_told_by_the_one_table (R-021, R-026, R-072)', (_name, error, code, next, evidence) => {
  const outcome = observeReading(error, null, POD);
  expect(outcome && classifyFailure(outcome.failure)).toMatchObject({ code, next, evidence });
});

test('a_client_that_left_is_that_whatever_was_thrown_and_a_fault_of_ours_is_nobodys', () => {
  expect(observeReading(new BrokenReply('x'), 'client_gone', POD)?.failure.kind).toBe('client_gone');
  expect(observeReading(new PagefleetError('config_invalid', 'no prompt'), null, POD)).toBeNull();
});

test.each([
  [
    '{"error":{"message":"The prompt is\\n too long","type":"BadRequestError"}}',
    'the model server answered 400: The prompt is too long',
  ],
  [
    '{"object":"error","message":"no multimodal model"}',
    'the model server answered 400: no multimodal model',
  ],
  ['<html>', 'the model server answered 400'],
  ['{"error":null}', 'the model server answered 400'],
  [`{"message":"at 127.0.0.1:9 with ${'t'.repeat(32)}"}`, null],
  ['{"code":"pod_full","message":"as the companion says"}', 'as the companion says'],
])(
  'what_a_model_server_says_against_a_request_is_told_unless_it_shows_the_pod (R-025): %s',
  (body, message) => {
    expect(observeReading(new ServerRefusal(400, body), null, POD)?.refusal?.message).toBe(message);
  },
);
