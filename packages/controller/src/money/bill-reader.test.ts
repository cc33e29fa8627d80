import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_LEDGER, type LedgerLine, spent } from '@pagefleet/core';
import type { Provider } from '@pagefleet/providers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Fleet } from '../fleet.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import { createBillReader } from './bill-reader.ts';

const HOUR = 3_600_000;
const T0 = Date.UTC(2026, 0, 5, 1);
/** Seen for an hour at $0.50, gone an hour later. */
const VANISHED: LedgerLine = {
  ...{ podId: 'p1', pool: 'ocr', bornAtMs: T0, microUsdPerHour: 500_000, pricedFromMs: T0, baseMicroUsd: 0 },
  ...{ countedUntilMs: T0 + HOUR, bootUntilMs: T0, absentAtMs: T0 + 2 * HOUR, correctedMicroUsd: 0 },
  closed: { atMs: T0 + 2 * HOUR, openUntilMs: T0 + 2 * HOUR, billedMicroUsd: null },
};

let folder: string;
let fleet: Fleet;
let nowMs: number;
let asked: number[];
let answer: () => Awaited<ReturnType<Provider['billed']>>;
let check: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bills-'));
  nowMs = T0 + 2 * HOUR;
  asked = [];
  answer = () => [{ podId: 'p1', fromMs: T0, untilMs: nowMs, usd: 0.75 }];
  const { logger } = quietLogger();
  fleet = await Fleet.open({ folder, logger, nowMs: () => nowMs });
  const billed = async (fromMs: number) => {
    asked.push(fromMs);
    return answer();
  };
  check = createBillReader({ fleet, provider: { billed }, logger, nowMs: () => nowMs });
});
afterEach(async () => {
  await fleet.close();
  await rm(folder, { recursive: true, force: true });
});

async function vanish(): Promise<void> {
  const ledger = { ...EMPTY_LEDGER, lines: new Map([['p1', VANISHED]]) };
  await fleet.changeMoney('test', (state) => ({ state: { ...state, ledger }, result: null }));
}

function corrected(): number {
  return spent(fleet.money.state.ledger).microUsd / 1e6;
}

describe('R-051: reading the provider’s bills', () => {
  test('nothing_is_asked_while_nothing_waits_for_a_bill', () => {
    check();
    expect(asked).toEqual([]);
  });

  test('the_open_end_is_closed_by_the_bill_and_asked_for_once_in_ten_minutes_until_it_is_settled', async () => {
    await vanish();
    check();
    check();
    // Half an hour of the hour in which it vanished.
    await vi.waitFor(() => expect(corrected()).toBe(0.25));
    nowMs += 599_999;
    check();
    expect(asked).toEqual([T0]);
    nowMs += 1;
    check();
    await vi.waitFor(() => expect(fleet.money.state.ledger.lines.size).toBe(0));
    nowMs += 600_000;
    check();
    expect(asked).toEqual([T0, T0]);
    expect(corrected()).toBe(0.25);
  });

  test('a_provider_that_fails_or_keeps_no_records_leaves_the_end_open', async () => {
    await vanish();
    answer = () => {
      throw new Error('no answer');
    };
    check();
    await fleet.look('settled', () => undefined);
    answer = () => null;
    nowMs += 600_000;
    check();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    expect(corrected()).toBe(0);
    expect(fleet.money.state.ledger.lines.size).toBe(1);
  });
});
