import { PagefleetError } from '@pagefleet/contract';
import type { PageKind } from '@pagefleet/engines';
import { reviveError } from '../carried-error.ts';
import type { SplitAnswer, SplitAsk } from './split-messages.ts';

/** The document is opened, and its pages can be pulled, in a thread or a child. */
export interface SplitRunner {
  readonly pageCount: number;
  /** One at a time. Rejects with `SplitterDied` when the thread or process ended or hung, else with what is wrong. */
  page(index: number): Promise<{ readonly kind: PageKind; readonly bytes: Uint8Array }>;
  close(): void;
}

/** Our end of the line to a splitter. */
export interface SplitterLine {
  ask(ask: SplitAsk): void;
  onAnswer(take: (answer: SplitAnswer) => void): void;
  /** Resolves when the splitter has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  kill(): void;
}

/** The document may have done it, so it gets one more try where it can do no harm. */
export class SplitterDied extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'SplitterDied';
  }
}

/** No single step on an honest document takes this long: a split takes milliseconds, a second reader 10 s at most. */
const STEP_TIMEOUT_MS = 30_000;

/** Waits for the document to be opened. Rejects like `page`. */
export async function openRunner(line: SplitterLine): Promise<SplitRunner> {
  let waiting: PromiseWithResolvers<SplitAnswer> | null = null;
  /** why there will be no more answers */
  let over: Error | null = null;
  const ended = line.ended.then(
    () => new SplitterDied('the splitter ended'),
    // One that never began to work died of nothing in the document.
    (cause) => (cause instanceof PagefleetError ? cause : new SplitterDied('the splitter died', cause)),
  );
  line.onAnswer((answer) => waiting?.resolve(answer));
  void ended.then((why) => {
    over = why;
    waiting?.reject(why);
  });

  async function answerTo(ask: SplitAsk | null): Promise<SplitAnswer> {
    if (over) throw over;
    const answer = Promise.withResolvers<SplitAnswer>();
    waiting = answer;
    const timer = setTimeout(() => {
      answer.reject(new SplitterDied(`the splitter did not answer for ${STEP_TIMEOUT_MS / 1_000} s`));
      line.kill();
    }, STEP_TIMEOUT_MS);
    try {
      if (ask) line.ask(ask);
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      waiting = null;
    }
  }

  const opened = await answerTo(null);
  if (opened.kind === 'refused') throw reviveError(opened.error);
  if (opened.kind !== 'opened')
    throw new SplitterDied(`the splitter answered ${opened.kind} before it had opened`);
  return {
    pageCount: opened.pageCount,
    async page(index) {
      const answer = await answerTo({ kind: 'page', index });
      if (answer.kind === 'page') return { kind: answer.page, bytes: answer.bytes };
      if (answer.kind === 'page_failed') throw reviveError(answer.error);
      throw new PagefleetError('internal', `the splitter answered ${answer.kind} to a page`);
    },
    close: () => line.ask({ kind: 'close' }),
  };
}
