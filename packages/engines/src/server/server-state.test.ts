import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  nextServerState,
  PATIENT_PROBE_MS,
  PROBE_MS,
  probeTimeoutMs,
  type ServerEvent,
  type ServerState,
  STARTING,
} from './server-state.ts';

const READY: ServerEvent = { kind: 'page_read' };
const MISSED: ServerEvent = { kind: 'probed', answer: 'missed', tookMs: PROBE_MS };
const BROKEN: ServerEvent = { kind: 'probed', answer: 'broken', tookMs: 1 };
const QUICK: ServerEvent = { kind: 'probed', answer: 'up', tookMs: 5 };
const SLOW: ServerEvent = { kind: 'probed', answer: 'up', tookMs: 9_000 };
const EXITED: ServerEvent = { kind: 'exited', how: 'it ended with code 1' };
const OVER: ServerEvent = { kind: 'start_time_over' };

const after = (...events: ServerEvent[]): ServerState => events.reduce(nextServerState, STARTING);
const anyEvent = fc.constantFrom(READY, MISSED, BROKEN, QUICK, SLOW, EXITED, OVER);

describe('the state of a model server (R-040, law L16)', () => {
  test('a_missed_probe_gets_a_patient_one_and_then_it_is_busy_and_stays_alive', () => {
    expect(probeTimeoutMs(after(READY))).toBe(PROBE_MS);
    const doubted = after(READY, MISSED);
    expect([doubted.at, probeTimeoutMs(doubted)]).toEqual(['ready', PATIENT_PROBE_MS]);
    expect(after(READY, MISSED, SLOW).at).toBe('busy');
    expect(after(READY, MISSED, MISSED).at).toBe('busy');
    expect(after(READY, MISSED, MISSED, QUICK)).toEqual(after(READY));
  });

  test('one_slow_answer_between_quick_ones_changes_nothing', () => {
    expect(after(READY, MISSED, QUICK)).toEqual(after(READY));
  });

  test('only_a_page_that_was_read_makes_it_ready', () => {
    expect(after(QUICK, QUICK, SLOW, BROKEN, MISSED)).toEqual(STARTING);
    expect(after(QUICK, OVER).at).toBe('dead');
  });

  test('the_start_time_means_nothing_to_a_server_that_is_up', () => {
    expect(after(READY, OVER)).toEqual(after(READY));
  });

  test('it_is_believed_when_it_says_three_times_in_a_row_that_its_engine_is_dead', () => {
    expect(after(READY, BROKEN, BROKEN).at).toBe('ready');
    expect(after(READY, BROKEN, BROKEN, QUICK, BROKEN, BROKEN).at).toBe('ready');
    expect(after(READY, BROKEN, BROKEN, BROKEN).at).toBe('dead');
  });

  test('it_is_dead_only_by_exit_by_its_own_word_or_by_the_start_time_and_then_for_good', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
        let state: ServerState = STARTING;
        let brokenInARow = 0;
        for (const event of events) {
          const before = state;
          state = nextServerState(state, event);
          const isUp = before.at === 'ready' || before.at === 'busy';
          if (event.kind === 'probed' && isUp)
            brokenInARow = event.answer === 'broken' ? brokenInARow + 1 : 0;
          const mayDie =
            event.kind === 'exited' ||
            (event.kind === 'start_time_over' && before.at === 'starting') ||
            brokenInARow >= 3;
          if (before.at === 'dead') expect(state).toBe(before);
          else expect(state.at === 'dead').toBe(mayDie);
          if (before.at !== 'starting') expect(state.at).not.toBe('starting');
        }
      }),
    );
  });

  test('whatever_is_missed_a_live_server_is_never_called_dead', () => {
    const probes = fc.array(fc.constantFrom(MISSED, SLOW, QUICK), { maxLength: 200 });
    fc.assert(
      fc.property(probes, (events) => ['ready', 'busy'].includes(after(READY, ...events).at)),
      { numRuns: 200 },
    );
  });
});
