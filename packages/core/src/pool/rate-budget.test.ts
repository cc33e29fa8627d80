import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ApiBudget,
  banMs,
  bannedUntil,
  callsOfHour,
  countCall,
  isOverBudget,
  LONGEST_BAN_MS,
  NO_CALLS,
  withBan,
} from './rate-budget.ts';

const HOUR_MS = 3_600_000;
const START_MS = 1_764_500_000_000;
const after = (calls: readonly number[]): ApiBudget =>
  calls.reduce((budget, atMs) => countCall(budget, { operation: 'list', atMs }), NO_CALLS);

describe('calls of the rolling hour (R-061)', () => {
  it('are_counted_by_operation', () => {
    let budget = countCall(NO_CALLS, { operation: 'create', atMs: START_MS });
    budget = countCall(budget, { operation: 'list', atMs: START_MS + 1 });
    budget = countCall(budget, { operation: 'list', atMs: START_MS + 90_000 });
    expect(callsOfHour(budget, START_MS + 90_000)).toEqual({ total: 3, byOperation: { create: 1, list: 2 } });
    expect(callsOfHour(budget, START_MS + 2 * HOUR_MS)).toEqual({ total: 0, byOperation: {} });
  });

  it('are_never_fewer_than_were_made_and_at_most_a_minute_too_many', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 600_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 0, max: HOUR_MS }), (steps, later) => {
        let atMs = START_MS;
        const calls = steps.map((gap) => {
          atMs += gap;
          return atMs;
        });
        const nowMs = atMs + later;
        const { total } = callsOfHour(after(calls), nowMs);
        const within = (ms: number) => calls.filter((call) => call > nowMs - ms).length;
        expect(total).toBeGreaterThanOrEqual(within(HOUR_MS));
        expect(total).toBeLessThanOrEqual(within(HOUR_MS + 60_000));
      }),
    );
  });

  it('take_no_more_room_however_long_it_goes_on', () => {
    const budget = after(Array.from({ length: 500 }, (_, minute) => START_MS + minute * 60_000));
    expect(budget.minutes.size).toBeLessThanOrEqual(61);
  });

  it('reach_the_budget_and_0_is_none', () => {
    const budget = after([START_MS, START_MS, START_MS]);
    expect(isOverBudget(budget, 4, START_MS)).toBe(false);
    expect(isOverBudget(budget, 3, START_MS)).toBe(true);
    expect(isOverBudget(budget, 3, START_MS + 2 * HOUR_MS)).toBe(false);
    expect(isOverBudget(budget, 0, START_MS)).toBe(false);
  });
});

describe('bans (R-062, L13)', () => {
  it('last_for_the_longest_wait_told_and_for_six_hours_at_most', () => {
    expect(banMs([3_939_000, 11_871_000], 60_000)).toBe(11_871_000);
    expect(banMs([40 * HOUR_MS], 60_000)).toBe(LONGEST_BAN_MS);
    expect(banMs([], 60_000)).toBe(60_000);
    expect(banMs([0, Number.NaN, -5], 60_000)).toBe(60_000);
  });

  it('are_never_shorter_than_the_lesser_of_any_wait_told_and_six_hours', () => {
    const event = fc.record({
      atMs: fc.integer({ min: 0, max: 30 * HOUR_MS }),
      told: fc.array(fc.integer({ min: 0, max: 12 * HOUR_MS }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.nat(40 * HOUR_MS), (events, nowMs) => {
        const past = events.filter(({ atMs }) => atMs <= nowMs).sort((a, b) => a.atMs - b.atMs);
        const budget = past.reduce(
          (state, { atMs, told }) => withBan(state, atMs + banMs(told, 60_000)),
          NO_CALLS,
        );
        const inside = past.some(({ atMs, told }) =>
          told.some((wait) => nowMs < atMs + Math.min(wait, LONGEST_BAN_MS)),
        );
        if (inside) expect(bannedUntil(budget, nowMs)).not.toBeNull();
        if (past.every(({ atMs }) => nowMs >= atMs + LONGEST_BAN_MS))
          expect(bannedUntil(budget, nowMs)).toBeNull();
      }),
    );
  });

  it('say_until_when', () => {
    const budget = withBan(NO_CALLS, START_MS + 5);
    expect(bannedUntil(budget, START_MS + 4)).toBe(START_MS + 5);
    expect(bannedUntil(budget, START_MS + 5)).toBeNull();
  });
});
