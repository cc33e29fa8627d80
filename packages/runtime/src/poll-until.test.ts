import { describe, expect, it } from 'vitest';
import { type PollClock, pollUntil } from './poll-until.ts';

/** A clock that only moves when someone sleeps, or when a poll says that it took time. */
function fakeClock(): PollClock & { slept: number[]; advance(ms: number): void } {
  let now = 1_000;
  const slept: number[] = [];
  return {
    slept,
    nowMs: () => now,
    advance: (ms) => {
      now += ms;
    },
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

describe('pollUntil (R-108)', () => {
  it('polls_once_per_turn_until_there_is_an_answer', async () => {
    const clock = fakeClock();
    const seen: number[] = [];
    const poll = async (n: number) => {
      seen.push(n);
      return n === 4 ? 'there' : undefined;
    };
    expect(await pollUntil({ poll, intervalMs: 5_000, deadlineMs: 60_000, clock })).toBe('there');
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(clock.slept).toEqual([5_000, 5_000, 5_000]);
  });

  it('an_answer_counts_even_when_the_poll_that_brings_it_ends_after_the_deadline', async () => {
    const clock = fakeClock();
    const poll = async () => {
      clock.advance(99_000);
      return 'late';
    };
    expect(await pollUntil({ poll, intervalMs: 1, deadlineMs: 10, clock })).toBe('late');
  });

  it('the_deadline_is_looked_at_after_a_poll_without_success', async () => {
    const clock = fakeClock();
    let polls = 0;
    const poll = async () => {
      polls += 1;
      return undefined;
    };
    await expect(pollUntil({ poll, intervalMs: 400, deadlineMs: 1_000, clock })).rejects.toMatchObject({
      code: 'timeout',
      details: { polls: 4 },
    });
    expect(polls).toBe(4);
    expect(clock.slept).toEqual([400, 400, 200]);
  });

  it('a_deadline_of_0_polls_once', async () => {
    let polls = 0;
    const poll = async () => {
      polls += 1;
      return undefined;
    };
    await expect(pollUntil({ poll, intervalMs: 1, deadlineMs: 0, clock: fakeClock() })).rejects.toThrow();
    expect(polls).toBe(1);
  });

  it('null_false_and_0_are_answers', async () => {
    for (const value of [null, false, 0, '']) {
      expect(
        await pollUntil({ poll: async () => value, intervalMs: 1, deadlineMs: 1, clock: fakeClock() }),
      ).toBe(value);
    }
  });

  it('what_a_poll_throws_ends_the_wait', async () => {
    const poll = async () => {
      throw new TypeError('gone');
    };
    await expect(pollUntil({ poll, intervalMs: 1, deadlineMs: 1_000, clock: fakeClock() })).rejects.toThrow(
      'gone',
    );
  });

  it('a_signal_ends_the_real_sleep_at_once', async () => {
    const controller = new AbortController();
    const waiting = pollUntil({
      poll: async () => undefined,
      intervalMs: 60_000,
      deadlineMs: 60_000,
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 10);
    await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('a_signal_already_raised_polls_never', async () => {
    let polls = 0;
    const poll = async () => {
      polls += 1;
      return 1;
    };
    const signal = AbortSignal.abort();
    await expect(pollUntil({ poll, intervalMs: 1, deadlineMs: 1, signal })).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(polls).toBe(0);
  });
});
