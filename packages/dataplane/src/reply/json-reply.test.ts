import { type OcrPage, type OcrResponse, PagefleetError } from '@pagefleet/contract';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Exchange } from './exchange.ts';
import { createJsonReply } from './json-reply.ts';
import type { DocumentEnd } from './reply.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function fakeExchange() {
  const sent = {
    head: null as Record<string, string> | null,
    text: '',
    ended: false,
    failed: null as PagefleetError | null,
  };
  const gone = new AbortController();
  const exchange = {
    requestId: 'r',
    signal: gone.signal,
    start(_status: number, headers: Record<string, string>) {
      sent.head = headers;
    },
    write(text: string) {
      sent.text += text;
    },
    end(body?: Uint8Array) {
      sent.text += body ? Buffer.from(body).toString() : '';
      sent.ended = true;
    },
    fail(error: PagefleetError) {
      sent.failed = error;
    },
  } as unknown as Exchange;
  return { exchange, sent, gone };
}

const page = (index: number): OcrPage => ({ index, markdown: `p${index}`, images: [], dimensions: null });
const end = (pages: number, more: Partial<DocumentEnd> = {}): DocumentEnd => ({
  model: 'ocr',
  pages,
  failed: 0,
  bytes: 9,
  error: null,
  pageError: null,
  ...more,
});

describe('one document as JSON (R-027)', () => {
  test('a_quick_answer_has_its_length_and_its_own_status', () => {
    const { exchange, sent } = fakeExchange();
    const reply = createJsonReply(exchange, 60_000);
    reply.page(0, 0, page(0));
    reply.documentEnd(0, end(1));
    expect(sent.head).toBeNull();
    reply.finish();
    expect(sent.head?.['content-length']).toBe(String(sent.text.length));
    expect((JSON.parse(sent.text) as OcrResponse).pages).toHaveLength(1);
  });

  test('a_document_that_failed_in_time_is_answered_from_the_catalogue', () => {
    const { exchange, sent } = fakeExchange();
    const reply = createJsonReply(exchange, 60_000);
    const error = new PagefleetError('document_encrypted', 'locked');
    reply.documentEnd(0, end(0, { error }));
    reply.finish();
    expect([sent.failed, sent.text]).toEqual([error, '']);
  });

  test('white_space_comes_at_once_and_every_20_s_until_the_end_or_until_the_client_is_gone', () => {
    const { exchange, sent, gone } = fakeExchange();
    createJsonReply(exchange, 60_000);
    vi.advanceTimersByTime(59_999);
    expect(sent.head).toBeNull();
    vi.advanceTimersByTime(1 + 40_000);
    expect(sent.text).toBe('   ');
    gone.abort();
    vi.advanceTimersByTime(60_000);
    expect(sent.text).toBe('   ');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('in_whatever_order_pages_finish_and_whenever_it_pads_the_answer_is_valid_and_in_page_order', () => {
    const run = fc.record({
      order: fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
      pauses: fc.array(fc.integer({ min: 0, max: 70_000 }), { minLength: 6, maxLength: 6 }),
      fails: fc.boolean(),
    });
    fc.assert(
      fc.property(run, ({ order, pauses, fails }) => {
        const { exchange, sent } = fakeExchange();
        const reply = createJsonReply(exchange, 60_000);
        for (const [step, position] of order.entries()) {
          vi.advanceTimersByTime(pauses[step] ?? 0);
          reply.page(0, position, page(position));
        }
        vi.advanceTimersByTime(pauses[5] ?? 0);
        const pageError = fails ? new PagefleetError('pod_failed', 'died') : null;
        reply.documentEnd(0, end(5, { failed: fails ? 2 : 0, pageError }));
        reply.finish();
        const body = JSON.parse(sent.text) as OcrResponse;
        expect(body.pages.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
        expect(body.usage_info.pages_processed).toBe(fails ? 3 : 5);
        expect(body.error?.code).toBe(fails ? 'pod_failed' : undefined);
        expect(sent.ended).toBe(true);
        expect(vi.getTimerCount()).toBe(0);
      }),
    );
  });

  test('a_failure_after_the_headers_is_told_in_the_body', () => {
    const { exchange, sent } = fakeExchange();
    const reply = createJsonReply(exchange, 1_000);
    reply.page(0, 0, page(0));
    vi.advanceTimersByTime(1_000);
    reply.fail(new PagefleetError('internal', 'a fault of ours'));
    expect(JSON.parse(sent.text)).toMatchObject({
      pages: [{ index: 0 }],
      error: { code: 'internal' },
      request_id: 'r',
    });
  });

  test('an_answer_too_large_to_be_held_is_sent_as_it_grows', () => {
    const { exchange, sent } = fakeExchange();
    const reply = createJsonReply(exchange, 60_000);
    for (let n = 0; n < 9; n += 1) reply.page(0, n, { ...page(n), markdown: 'x'.repeat(1024 * 1024) });
    expect(sent.text.length).toBeGreaterThan(8 * 1024 * 1024);
    reply.documentEnd(0, end(9));
    reply.finish();
    expect((JSON.parse(sent.text) as OcrResponse).pages).toHaveLength(9);
  });
});
