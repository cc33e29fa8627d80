import { ENGINE_PROFILES } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptBudget, decideAttempt, type PastAttempt, type ReplyVerdict } from './decide-attempt.ts';

const { surya, chandra, olmocr } = ENGINE_PROFILES;
const BUDGET: AttemptBudget = { retries: 3, continuations: 0 };

/** Every question of one page when the engine answers like this; the last element is how it ended. */
function run(profile: typeof surya, verdicts: readonly ReplyVerdict[], budget = BUDGET) {
  const past: PastAttempt[] = [];
  for (;;) {
    const decision = decideAttempt(past, profile, budget);
    if (decision.kind !== 'ask') return { asks: past.map(({ ask }) => ask), end: decision };
    const verdict = verdicts[past.length] ?? { kind: 'good' };
    past.push({ ask: decision.ask, verdict });
  }
}
const loop: ReplyVerdict = { kind: 'loop' };
const always = (verdict: ReplyVerdict) => Array<ReplyVerdict>(50).fill(verdict);
const temperatures = (profile: typeof surya, retries: number) =>
  run(profile, always(loop), { ...BUDGET, retries }).asks.map(({ temperature }) => temperature);

describe('the tries of one page (R-070; contract 3.1 to 3.3)', () => {
  it('follow_each_engines_own_ladder', () => {
    expect(temperatures(surya, surya.retry.retries)).toEqual([0, 0.2, 0.4, 0.6]);
    expect(temperatures(surya, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 0.8]);
    expect(temperatures(chandra, chandra.retry.retries)).toEqual([0, ...Array(6).fill(0.3)]);
    expect(temperatures(olmocr, olmocr.retry.retries)).toEqual([0.1, 0.1, 0.2, 0.3, 0.5, 0.8, 0.9, 1]);
    expect(run(surya, [loop]).asks.map(({ topP }) => topP)).toEqual([0.1, 0.95]);
    expect(run(olmocr, [loop]).asks.map(({ topP }) => topP)).toEqual([null, null]);
  });

  it('end_with_the_first_good_reply', () => {
    expect(run(surya, [])).toMatchObject({ asks: { length: 1 }, end: { kind: 'accept' } });
    expect(run(surya, [loop, { kind: 'invalid', why: 'no div' }])).toMatchObject({
      asks: { length: 3 },
      end: { kind: 'accept' },
    });
  });

  it('that_all_end_in_a_repetition_of_their_own_accord_show_a_page_that_is_like_that', () => {
    const suspect: ReplyVerdict = { kind: 'suspect' };
    expect(run(surya, always(suspect)).end).toEqual({ kind: 'accept', which: 3 });
    expect(run(surya, [loop, suspect, loop, loop]).end).toEqual({ kind: 'accept', which: 1 });
    expect(run(surya, [suspect]).end).toEqual({ kind: 'accept', which: 1 });
  });

  it('say_at_the_end_what_was_wrong_last', () => {
    const { end } = run(surya, always({ kind: 'invalid', why: 'no block' }));
    expect(end).toEqual({
      kind: 'give_up',
      reason: 'the engine’s reply cannot be used (no block) in the last of 4 tries',
    });
  });

  it('turn_the_picture_step_by_step_and_keep_it_turned', () => {
    const turned = (by: 90 | 180 | 270): ReplyVerdict => ({ kind: 'turned', by });
    const { asks } = run(olmocr, [turned(90), loop, turned(270), turned(180)], { ...BUDGET, retries: 7 });
    expect(asks.map(({ rotation }) => rotation)).toEqual([0, 90, 90, 0, 180]);
  });

  it('go_on_with_a_reply_that_was_cut_as_often_as_allowed_and_then_start_anew', () => {
    const cut = (text: string): ReplyVerdict => ({ kind: 'cut', text });
    const { asks } = run(surya, [cut('a'), cut('ab'), cut('abc'), cut('x')], {
      retries: 1,
      continuations: 2,
    });
    expect(asks.map(({ prefix }) => prefix)).toEqual([null, 'a', 'ab', null, 'x']);
    expect(asks.map(({ temperature }) => temperature)).toEqual([0, 0, 0, 0.2, 0.2]);
  });

  it('never_are_more_than_the_budget_and_a_reply_that_loops_is_never_gone_on_with', () => {
    const verdict = fc.oneof<fc.Arbitrary<ReplyVerdict>[]>(
      fc.constant(loop),
      fc.constant({ kind: 'invalid', why: 'w' }),
      fc.string().map((text) => ({ kind: 'cut', text })),
      fc.constantFrom(90 as const, 180 as const, 270 as const).map((by) => ({ kind: 'turned', by })),
    );
    const profile = fc.constantFrom(surya, chandra, olmocr);
    const budget = fc.record({ retries: fc.nat(8), continuations: fc.nat(3) });
    fc.assert(
      fc.property(profile, fc.array(verdict, { minLength: 60, maxLength: 60 }), budget, (one, said, most) => {
        const { asks, end } = run(one, said, most);
        const begun = asks.filter(({ prefix }) => prefix === null).length;
        expect(begun).toBe(most.retries + 1);
        expect(asks.length).toBeLessThanOrEqual((most.retries + 1) * (most.continuations + 1));
        expect(end.kind).toBe('give_up');
        for (const [n, { prefix }] of asks.entries()) {
          if (prefix !== null) expect(said[n - 1]).toEqual({ kind: 'cut', text: prefix });
        }
      }),
    );
  });
});
