import { PassThrough } from 'node:stream';
import { PagefleetError } from '@pagefleet/contract';
import { describe, expect, it } from 'vitest';
import { readBody } from './read-body.ts';

const never = new AbortController().signal;
const codeOf = (error: unknown): string => (error instanceof PagefleetError ? error.code : String(error));

describe('body of a page', () => {
  it('a_body_of_exactly_the_limit_is_read_and_one_byte_more_is_refused', async () => {
    const fits = new PassThrough();
    fits.end('abcd');
    expect((await readBody(fits, { maxBytes: 4, signal: never })).toString()).toBe('abcd');
    const larger = new PassThrough();
    larger.end('abcde');
    expect(await readBody(larger, { maxBytes: 4, signal: never }).catch(codeOf)).toBe('payload_too_large');
  });

  it('a_body_without_bytes_is_empty', async () => {
    const stream = new PassThrough();
    stream.end();
    expect(await readBody(stream, { maxBytes: 4, signal: never }).catch(codeOf)).toBe('empty_body');
  });

  it('what_comes_after_a_refusal_is_thrown_away_and_not_kept', async () => {
    const stream = new PassThrough({ highWaterMark: 8 });
    stream.write('too long');
    expect(await readBody(stream, { maxBytes: 4, signal: never }).catch(codeOf)).toBe('payload_too_large');
    for (let n = 0; n < 100; n += 1) stream.write('more and more');
    await new Promise((resolve) => stream.end(resolve));
    expect(stream.readableLength).toBe(0);
  });

  it('a_sender_that_hangs_up_ends_the_reading', async () => {
    const stream = new PassThrough();
    stream.write('a');
    const reading = readBody(stream, { maxBytes: 4, signal: never }).catch(codeOf);
    stream.destroy();
    expect(await reading).toBe('client_gone');
  });

  it('a_signal_ends_the_reading_with_its_reason', async () => {
    const ending = new AbortController();
    const reading = readBody(new PassThrough(), { maxBytes: 4, signal: ending.signal }).catch(codeOf);
    ending.abort(new PagefleetError('page_deadline', 'late'));
    expect(await reading).toBe('page_deadline');
  });
});
