import { PagefleetError } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import type { BodyStore } from '../read/body-store.ts';
import type { HeldBytes } from '../read/held-bytes.ts';
import { createSeats } from './seats.ts';
import type { SplitAnswer } from './split-messages.ts';
import type { SplitterLine } from './split-runner.ts';
import { createSplitSource } from './split-source.ts';

const live = new AbortController().signal;
const page = (index: number): SplitAnswer => ({ kind: 'page', page: 'pdf', bytes: Buffer.from(`p${index}`) });

/** A splitter that answers as told, or dies. */
function line(answer: (index: number | 'open') => SplitAnswer | 'die'): SplitterLine {
  const ended = Promise.withResolvers<void>();
  let take: (answer: SplitAnswer) => void = () => undefined;
  const say = (said: SplitAnswer | 'die'): void => {
    if (said === 'die') ended.reject(new Error('dead'));
    else queueMicrotask(() => take(said));
  };
  ended.promise.catch(() => {
    take = () => undefined;
  });
  queueMicrotask(() => say(answer('open')));
  return {
    ask: (ask) => (ask.kind === 'page' ? say(answer(ask.index)) : ended.resolve()),
    onAnswer(taker) {
      take = taker;
    },
    ended: ended.promise,
    kill: () => ended.reject(new Error('killed')),
  };
}

const good = () => line((at) => (at === 'open' ? { kind: 'opened', pageCount: 5 } : page(at)));
const store = {
  hold: async (bytes: Uint8Array) => ({
    place: 'memory',
    chunks: [bytes],
    size: bytes.length,
    release: () => undefined,
  }),
} as unknown as BodyStore;
const document: HeldBytes = {
  place: 'memory',
  chunks: [Buffer.from('doc')],
  size: 3,
  release: () => undefined,
};

function source(
  first: () => SplitterLine,
  second: () => SplitterLine,
  seats = [createSeats(1), createSeats(1)] as const,
) {
  return createSplitSource(document, {
    limits: { maxPages: 10, maxPixels: 1_000_000 },
    store,
    signal: live,
    places: [
      { seats: seats[0], open: first },
      { seats: seats[1], open: second },
    ],
  });
}

const text = ({ bytes }: { bytes: HeldBytes }) =>
  bytes.place === 'memory' ? Buffer.concat(bytes.chunks).toString() : '';

describe('a document that brings down its splitter', () => {
  test('is_tried_once_more_in_a_process_of_its_own_and_goes_on_there', async () => {
    const opened = await source(
      () => line((at) => (at === 1 ? 'die' : at === 'open' ? { kind: 'opened', pageCount: 5 } : page(at))),
      good,
    );
    expect(opened.pageCount).toBe(5);
    for (const index of [0, 1, 2]) expect(text(await opened.page(index, live))).toBe(`p${index}`);
  });

  test('while_no_page_is_asked_for_goes_on_without_waiting_for_an_answer', async () => {
    const first = good();
    const opened = await source(() => first, good);
    first.kill();
    await expect(first.ended).rejects.toThrow('killed');
    expect(text(await opened.page(0, live))).toBe('p0');
  });

  test('is_damaged_when_it_cannot_be_opened_anywhere', async () => {
    await expect(
      source(
        () => line(() => 'die'),
        () => line(() => 'die'),
      ),
    ).rejects.toMatchObject({ code: 'document_damaged' });
  });

  test('loses_only_the_page_that_does_it_twice', async () => {
    const deadly = () =>
      line((at) => (at === 1 ? 'die' : at === 'open' ? { kind: 'opened', pageCount: 5 } : page(at)));
    const opened = await source(deadly, deadly);
    expect(text(await opened.page(0, live))).toBe('p0');
    await expect(opened.page(1, live)).rejects.toMatchObject({ code: 'page_unreadable' });
    expect(text(await opened.page(2, live))).toBe('p2');
  });

  test('is_given_up_after_three_deaths', async () => {
    const deadly = () => line((at) => (at === 'open' ? { kind: 'opened', pageCount: 5 } : 'die'));
    const opened = await source(deadly, deadly);
    for (const index of [0, 1])
      await expect(opened.page(index, live)).rejects.toMatchObject({ code: 'page_unreadable' });
    for (const index of [2, 3])
      await expect(opened.page(index, live)).rejects.toMatchObject({ code: 'document_damaged' });
  });
});

describe('a document that is merely bad', () => {
  test('is_told_as_it_is_and_not_tried_again', async () => {
    const refused = () =>
      line(() => ({
        kind: 'refused',
        error: { code: 'document_encrypted', message: 'locked', details: {} },
      }));
    const never = () => {
      throw new Error('a second try');
    };
    await expect(source(refused, never)).rejects.toEqual(new PagefleetError('document_encrypted', 'locked'));
  });

  test('gives_up_its_seat_while_its_pages_are_not_wanted_and_is_opened_again', async () => {
    const seats = [createSeats(1), createSeats(1)] as const;
    let opens = 0;
    const counted = () => {
      opens += 1;
      return good();
    };
    const one = await source(counted, good, seats);
    const two = await source(counted, good, seats);
    for (const index of [0, 1]) {
      expect(text(await one.page(index, live))).toBe(`p${index}`);
      expect(text(await two.page(index, live))).toBe(`p${index}`);
    }
    expect(opens).toBeGreaterThan(2);
    one.close();
    two.close();
    await source(counted, good, seats);
  });
});
