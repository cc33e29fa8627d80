import { describe, expect, test } from 'vitest';
import { type PodEvidence, SuspectBook } from './suspect-book.ts';

const TRIAL_DELAY_MS = 5_000;

const refused = (nowMs: number, rest: Partial<PodEvidence> = {}): PodEvidence => ({
  kind: 'refusing',
  code: 'engine_failed',
  pageId: 'page-1',
  document: 'doc-1',
  dispatchedAtMs: nowMs,
  nowMs,
  ...rest,
});
const unreachable = (nowMs: number): PodEvidence =>
  refused(nowMs, { kind: 'unreachable', code: 'pod_failed' });

/** runs the trial that is due and says when the next one is */
function failTrial(book: SuspectBook, nowMs: number): number | undefined {
  expect(book.health('a', nowMs)).toBe('trial');
  book.startTrial('a');
  book.raise('a', refused(nowMs));
  return book.trialAtMs('a');
}

describe('suspects of a worker (R-021, R-030, R-031, L6)', () => {
  test('an_unreachable_pod_is_out_until_a_slice_answers_that_very_suspicion', () => {
    const book = new SuspectBook(TRIAL_DELAY_MS);
    expect(book.raise('a', unreachable(100))).toEqual({
      n: 1,
      kind: 'unreachable',
      code: 'pod_failed',
      atMs: 100,
      document: 'doc-1',
    });
    book.answer('a', 0);
    expect(book.health('a', 1_000_000)).toBe('out');
    book.answer('a', 1);
    expect(book.health('a', 1_000_000)).toBe('good');
    expect(book.raise('a', unreachable(2_000_000))?.n).toBe(2);
    book.answer('a', 1);
    expect(book.health('a', 2_000_000)).toBe('out');
  });

  test.each([5_000, 100])(
    'a_refusing_pod_gets_one_trial_page_after_%i_ms_doubling_to_sixty_times_as_much',
    (delayMs) => {
      const book = new SuspectBook(delayMs);
      book.raise('a', refused(0));
      expect(book.health('a', delayMs - 1)).toBe('out');
      const trials = [book.trialAtMs('a') ?? 0];
      for (let i = 0; i < 8; i += 1) trials.push(failTrial(book, trials.at(-1) ?? 0) ?? 0);
      const pauses = trials.map((at, i) => (at - (trials[i - 1] ?? 0)) / delayMs);
      expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    },
  );

  test('only_one_trial_page_runs_at_a_time_and_one_that_says_nothing_makes_room_for_the_next', () => {
    const book = new SuspectBook(TRIAL_DELAY_MS);
    book.raise('a', refused(0));
    book.startTrial('a');
    expect(book.health('a', 6_000)).toBe('out');
    book.abandonTrial('a');
    expect(book.health('a', 6_000)).toBe('trial');
  });

  test('the_trial_page_restores_a_refusing_pod_a_page_sent_earlier_does_not', () => {
    const book = new SuspectBook(TRIAL_DELAY_MS);
    book.raise('a', refused(0));
    book.succeed('a', { trial: false });
    expect(book.health('a', 1)).toBe('out');
    book.startTrial('a');
    book.succeed('a', { trial: true });
    expect(book.health('a', 6_000)).toBe('good');
    expect(book.suspicion('a')?.n, 'stays in the report until it is answered').toBe(1);
    book.raise('a', refused(10_000));
    expect(book.trialAtMs('a'), 'a success starts the pauses anew').toBe(15_000);
  });

  test('any_page_that_is_read_well_proves_an_unreachable_pod_reachable', () => {
    const book = new SuspectBook(TRIAL_DELAY_MS);
    book.raise('a', unreachable(0));
    book.succeed('a', { trial: false });
    expect(book.health('a', 1)).toBe('good');
  });

  test('pages_sent_before_the_suspicion_tell_nothing_new_unless_the_pod_is_now_gone', () => {
    const book = new SuspectBook(TRIAL_DELAY_MS);
    book.raise('a', refused(100));
    expect(book.raise('a', refused(200, { dispatchedAtMs: 50 }))).toBeUndefined();
    expect(book.trialAtMs('a')).toBe(5_100);
    expect(book.raise('a', { ...unreachable(300), dispatchedAtMs: 50 })?.n).toBe(2);
    expect(book.health('a', 10_000)).toBe('out');
    expect(book.raise('a', refused(400, { dispatchedAtMs: 50 }))).toBeUndefined();
  });

  test('a_page_that_turns_out_to_be_at_fault_clears_the_pod_of_what_it_said_only', () => {
    const book = new SuspectBook(TRIAL_DELAY_MS);
    book.raise('a', refused(0));
    book.withdraw('a', 'another page');
    expect(book.health('a', 1)).toBe('out');
    book.withdraw('a', 'page-1');
    expect(book.health('a', 1)).toBe('good');
    expect(book.suspicion('a')).toBeUndefined();
  });

  test('a_pod_that_is_restored_but_goes_on_refusing_waits_longer_each_time', () => {
    const book = new SuspectBook(TRIAL_DELAY_MS);
    book.raise('a', refused(0));
    book.answer('a', 1);
    book.raise('a', refused(1_000));
    expect(book.trialAtMs('a')).toBe(11_000);
  });
});
