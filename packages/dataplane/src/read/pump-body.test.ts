import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { pumpBody } from './pump-body.ts';

const live = new AbortController().signal;

describe('reading a body', () => {
  test('the_last_chunk_is_taken_before_the_end_is_told', async () => {
    const taken: string[] = [];
    await pumpBody(
      Readable.from([Buffer.from('a'), Buffer.from('b')]),
      async (chunk) => {
        await sleep(20);
        taken.push(chunk.toString());
      },
      live,
    );
    expect(taken).toEqual(['a', 'b']);
  });

  test('a_chunk_that_cannot_be_taken_ends_the_reading_even_if_it_is_the_last', async () => {
    const refuse = () => Promise.reject(new Error('full'));
    await expect(pumpBody(Readable.from([Buffer.from('a')]), refuse, live)).rejects.toThrow('full');
  });

  test('the_sender_waits_while_a_chunk_is_taken_and_the_stream_is_never_destroyed', async () => {
    const source = new PassThrough({ highWaterMark: 1 });
    const stop = new AbortController();
    const pumped = pumpBody(source, () => sleep(1_000), stop.signal);
    source.write('a');
    await sleep(5);
    expect(source.isPaused()).toBe(true);
    stop.abort(new Error('stop'));
    await expect(pumped).rejects.toThrow('stop');
    expect([source.destroyed, source.isPaused(), source.listenerCount('data')]).toEqual([false, true, 0]);
  });
});
