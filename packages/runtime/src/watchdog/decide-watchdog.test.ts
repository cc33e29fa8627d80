import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideWatchdog,
  initialWatchdog,
  type WatchdogAction,
  type WatchdogLimits,
} from './decide-watchdog.ts';

const limits: WatchdogLimits = {
  tickMs: 250,
  stallMs: 3_000,
  repeatMs: 30_000,
  fatalMs: 60_000,
  maxReportsPerHour: 20,
};

/** Plays ticks: each has the time since the last one and whether the loop has turned meanwhile. */
function play(ticks: readonly { afterMs: number; turned: boolean }[], with_: Partial<WatchdogLimits> = {}) {
  let nowMs = 0;
  let beat = 0;
  let state = initialWatchdog(nowMs, beat);
  const actions: (Exclude<WatchdogAction, { kind: 'none' }> & { atMs: number })[] = [];
  for (const { afterMs, turned } of ticks) {
    nowMs += afterMs;
    if (turned) beat += 1;
    const next = decideWatchdog(state, { nowMs, beat }, { ...limits, ...with_ });
    state = next.state;
    if (next.action.kind !== 'none') actions.push({ ...next.action, atMs: nowMs });
    if (next.action.kind === 'end') break;
  }
  return actions;
}

const ticks = (count: number, turned: boolean, afterMs = 250) =>
  Array.from({ length: count }, () => ({ afterMs, turned }));

describe('decideWatchdog (R-019)', () => {
  it('a_silence_is_reported_at_the_stall_limit_again_every_30_s_and_ended_at_the_fatal_limit', () => {
    const actions = play(ticks(1_000, false));
    expect(actions.map(({ kind, atMs }) => [kind, atMs])).toEqual([
      ['report', 3_000],
      ['report', 33_000],
      ['end', 60_000],
    ]);
  });

  it('a_loop_that_turns_is_never_reported', () => {
    expect(play(ticks(1_000, true))).toEqual([]);
    const almost = Array.from({ length: 100 }, () => [...ticks(11, false), ...ticks(1, true)]).flat();
    expect(play(almost)).toEqual([]);
  });

  it('a_recovered_loop_is_said_to_be_once', () => {
    const actions = play([...ticks(20, false), ...ticks(20, true)]);
    expect(actions.map(({ kind }) => kind)).toEqual(['report', 'recovered']);
    expect(actions[1]).toMatchObject({ silentMs: 5_250 });
  });

  it('at_most_20_reports_an_hour', () => {
    const stalls = Array.from({ length: 200 }, () => [...ticks(13, false), ...ticks(1, true)]).flat();
    const reports = play(stalls).filter(({ kind }) => kind === 'report');
    expect(reports).toHaveLength(20);
    const later = play([...stalls, ...ticks(1, true, 3_600_000), ...ticks(13, false)]);
    expect(later.filter(({ kind }) => kind === 'report')).toHaveLength(21);
  });

  it('a_gap_in_our_own_clock_is_starvation_and_no_silence_of_the_loop', () => {
    const actions = play([{ afterMs: 500_000, turned: false }, ...ticks(5, false)]);
    expect(actions.map(({ kind }) => kind)).toEqual(['starved']);
  });

  it('starvation_is_told_also_when_the_loop_turns_first_after_it', () => {
    const kinds = play([{ afterMs: 9_000, turned: true }, ...ticks(5, true)]).map(({ kind }) => kind);
    expect(kinds).toEqual(['starved']);
  });

  it('a_machine_that_starves_us_all_the_time_is_not_told_of_more_than_20_times_an_hour', () => {
    expect(play(ticks(300, true, 9_000))).toHaveLength(20);
  });

  it('a_loop_that_stays_silent_after_a_gap_is_still_found', () => {
    const kinds = play([{ afterMs: 500_000, turned: false }, ...ticks(300, false)]).map(({ kind }) => kind);
    expect(kinds).toEqual(['starved', 'report', 'report', 'end']);
  });

  it('ends_nothing_that_was_silent_for_less_than_the_fatal_limit_of_our_own_running_time', () => {
    const tick = fc.record({
      afterMs: fc.oneof(fc.integer({ min: 200, max: 300 }), fc.nat({ max: 200_000 })),
      turned: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(tick, { maxLength: 400 }), (played) => {
        const end = play(played).find(({ kind }) => kind === 'end');
        if (!end) return;
        // What we ran ourselves since the last turn of the loop: a long tick counts as two ticks at most.
        let ranMs = 0;
        for (const { afterMs, turned } of played)
          ranMs = turned ? 0 : ranMs + Math.min(afterMs, 2 * limits.tickMs);
        expect(ranMs).toBeGreaterThanOrEqual(limits.fatalMs);
      }),
    );
  });
});
