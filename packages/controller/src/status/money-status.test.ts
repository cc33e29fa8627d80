import type { Config } from '@pagefleet/contract';
import { type ClientLease, EMPTY_LEDGER, type LedgerLine, type LedgerTotal, totalKey } from '@pagefleet/core';
import { describe, expect, test } from 'vitest';
import { showPoolLeases } from '../leases/show-lease.ts';
import { UTC_CALENDAR } from '../money/calendar.ts';
import { moneyStatus, spendOf } from './money-status.ts';

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 2, 5, 12);
const TODAY = UTC_CALENDAR.dayAt(T0);
const LIMITS: Config['money'] = {
  ...{ usdPerHour: 2, usdPerDay: 20, hardUsdPerHour: 3, hardUsdPerDay: 0, timeZone: 'UTC' },
};

function total(day: string, change: Partial<LedgerTotal> = {}): LedgerTotal {
  const none = {
    pool: 'ocr',
    lease: '',
    owner: '',
    servingMicroUsd: 0,
    bootingMicroUsd: 0,
    correctedMicroUsd: 0,
  };
  return { day, ...none, ...change };
}

const TOTALS = [
  total('2026-03-05', { servingMicroUsd: 3_000_000, bootingMicroUsd: 1_000_000 }),
  total('2026-03-05', { servingMicroUsd: 500_000, lease: 'l1', owner: 'alice' }),
  total('2026-03-04', { servingMicroUsd: 250_000, lease: 'l1', owner: 'alice', pool: 'chat' }),
  total('2026-03-01', { correctedMicroUsd: 10_000 }),
  total('2026-02-28', { servingMicroUsd: 99_000_000 }),
];
const LINE: LedgerLine = {
  ...{ podId: 'p1', pool: 'ocr', bornAtMs: T0, microUsdPerHour: 600_000, pricedFromMs: T0, baseMicroUsd: 0 },
  ...{ countedUntilMs: T0, bootUntilMs: T0, absentAtMs: null, correctedMicroUsd: 0, closed: null },
};
const LEDGER = {
  ...EMPTY_LEDGER,
  totals: new Map(TOTALS.map((one) => [totalKey(one), one])),
  lines: new Map([['p1', LINE]]),
};

describe('R-051: money in the status', () => {
  test('today_and_this_month_of_all_and_of_a_pool', () => {
    expect(spendOf(LEDGER, TODAY)).toEqual({ spend_today_usd: 4.5, spend_month_usd: 4.76 });
    expect(spendOf(LEDGER, TODAY, 'chat')).toEqual({ spend_today_usd: 0, spend_month_usd: 0.25 });
  });

  test('what_is_left_takes_the_open_end_as_spent_and_a_hard_limit_that_is_not_set_is_the_soft_one', () => {
    const input = { nowMs: T0 + HOUR, today: TODAY, ledger: LEDGER, money: LIMITS, liveUsdPerHour: 0.6 };
    expect(moneyStatus(input)).toMatchObject({
      ...{ day: '2026-03-05', known: true, open_today_usd: 0.6, booting_today_usd: 1 },
      per_hour: { soft_usd: 2, hard_usd: 3, left_usd: 1.4 },
      per_day: { soft_usd: 20, hard_usd: 20, left_usd: 14.9 },
      leases: [{ lease: 'l1', owner: 'alice', today_usd: 0.5, month_usd: 0.75 }],
    });
    const damaged = { ...input, ledger: { ...LEDGER, damagedDay: '2026-03-05' } };
    expect(moneyStatus(damaged).known).toBe(false);
  });
});

describe('R-093: leases of a pool in the status', () => {
  test('the_largest_floor_the_smallest_cap_and_the_time_of_the_longer_half', () => {
    const lease = (
      id: string,
      pods: number,
      podsUntil: number,
      cap: number | null,
      capUntil: number,
    ): ClientLease => ({
      ...{ id, owner: 'alice', name: id, pool: 'ocr' },
      floor: pods === 0 ? null : { pods, expiresAtMs: T0 + podsUntil },
      narrowing: cap === null ? null : { cap, cards: null, requireFleet: false, expiresAtMs: T0 + capUntil },
    });
    const leases = [
      lease('a', 8, 60_000, 12, 30_000),
      lease('b', 3, 900_000, 9, 90_000),
      lease('c', 0, 0, 9, 40_000),
    ];
    expect(showPoolLeases(leases, 'ocr', T0)).toEqual({
      ...{ client_pods: 8, client_max_pods: 9, client_lease_expires_in_s: 90 },
    });
    expect(showPoolLeases(leases, 'ocr', T0 + 60_000)).toMatchObject({
      client_pods: 3,
      client_lease_expires_in_s: 840,
    });
    expect(showPoolLeases(leases, 'chat', T0)).toEqual({
      ...{ client_pods: null, client_max_pods: null, client_lease_expires_in_s: null },
    });
  });
});
