import { expect, test, vi } from 'vitest';
import { createTicket } from './admit/ticket.ts';
import { createUnitGate } from './admit/unit-gate.ts';
import { createDemandBook } from './demand-book.ts';
import type { PageJob } from './queue/page-job.ts';
import { type DocumentWork, type PageLine, readPages } from './read-pages.ts';

test('a_page_split_off_after_its_client_hung_up_never_enters_the_queue_and_is_given_back (R-020)', async () => {
  const gone = new AbortController();
  const gate = createUnitGate(() => true);
  gate.tryTake();
  const submitted: PageJob[] = [];
  const release = vi.fn();
  const work: DocumentWork = {
    ...{
      id: 'd',
      pool: 'ocr',
      requestId: 'r',
      caller: { name: 'local', role: 'client' },
      signal: gone.signal,
    },
    options: {
      model: null,
      pages: null,
      languages: null,
      blocks: false,
      confidence: null,
      requireFleet: false,
    },
    source: {
      pageCount: 2,
      // The splitter is at it when the client leaves, and answers all the same.
      async page() {
        gone.abort(new Error('gone'));
        const bytes = { place: 'memory' as const, chunks: [], size: 0, release };
        return { kind: 'pdf', bytes };
      },
      close: () => undefined,
    },
    ticket: createTicket(gate),
    demand: createDemandBook().open('ocr'),
    drained: async () => undefined,
    onPage: () => undefined,
  };
  const line: PageLine = {
    readAhead: { turn: async () => undefined, wake: () => undefined },
    nextPageId: () => 'p',
    senderOf: () => async () => ({ kind: 'failed', failure: { kind: 'cut' }, refusal: null, reason: null }),
    submit: (job) => void submitted.push(job),
    withdraw: () => true,
    ownWaiting: () => 0,
    nowMs: () => 0,
  };
  await expect(readPages(work, line)).rejects.toThrow('gone');
  expect(submitted).toEqual([]);
  expect(release).toHaveBeenCalledTimes(1);
  work.ticket.close();
  expect(gate.taken()).toBe(0);
});
