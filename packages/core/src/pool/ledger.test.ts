import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Day, dayAt } from './calendar.ts';
import { EMPTY_LEDGER, endedInLedger, type Ledger, type LedgerFacts, recordLedger } from './ledger.ts';
import { billsNeededFromMs, settleBills } from './ledger-bills.ts';
import { foldOldDays, openMicroUsd, spent, spentTodayUsd } from './ledger-sums.ts';
import type { CompleteListing } from './listing.ts';
import type { Pod } from './pod-state.ts';
import { booting, listedOf, listing, registry, serving, T0, terminating } from './world-kit.ts';

const HOUR = 3_600_000;
const PAID = { priceUsdPerHour: 0.5, createdAtMs: T0, shownAtMs: T0 };
const POD = serving('a', PAID);
const NOBODY = { lease: '', owner: '' };

function utcDay(atMs: number): Day {
  return dayAt(atMs, () => 0);
}

function shown(atMs: number, ...pods: Pod[]): CompleteListing {
  return listing(atMs, pods.map(listedOf));
}

function record(ledger: Ledger, pods: readonly Pod[], change: Partial<LedgerFacts>): Ledger {
  const facts = { nowMs: T0, newest: null, dayAt: utcDay, payerOf: () => NOBODY, ...change };
  return recordLedger(ledger, { ...facts, registry: registry(...pods) });
}

function usd(ledger: Ledger, days?: string): number {
  return spent(ledger, days).microUsd / 1e6;
}

function bill(ledger: Ledger, amount: number | null, nowMs: number): Ledger {
  const records = amount === null ? null : [{ podId: 'id-a', usd: amount }];
  return settleBills(ledger, records, { nowMs, dayAt: utcDay });
}

describe('R-051, L12: what is counted', () => {
  test('a_pod_costs_from_its_creation_up_to_the_last_listing_that_showed_it_also_one_adopted_late', () => {
    const atMs = T0 + 2 * HOUR;
    const ledger = record(EMPTY_LEDGER, [POD], { newest: shown(atMs, POD), nowMs: atMs + 60_000 });
    expect(usd(ledger)).toBe(1);
    expect(openMicroUsd(ledger, 0, atMs + 60_000)).toBe(8_333);
  });

  test('nothing_is_written_when_nothing_new_is_known', () => {
    const facts = { newest: shown(T0 + HOUR, POD), nowMs: T0 + HOUR };
    const ledger = record(EMPTY_LEDGER, [POD], facts);
    expect(record(ledger, [POD], { ...facts, nowMs: T0 + 2 * HOUR })).toBe(ledger);
  });

  test('a_pod_that_is_asked_for_or_free_or_without_a_price_has_no_line', () => {
    const free = serving('f', { ...PAID, priceUsdPerHour: 0 });
    const unpriced = serving('u', { ...PAID, priceUsdPerHour: null });
    expect(record(EMPTY_LEDGER, [free, unpriced], { newest: shown(T0 + HOUR, free, unpriced) })).toBe(
      EMPTY_LEDGER,
    );
  });

  test('each_price_counts_for_its_own_time_and_a_quote_that_was_wrong_for_none', () => {
    const first = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), nowMs: T0 + HOUR });
    const dearer = { ...POD, priceUsdPerHour: 2 };
    const second = record(first, [dearer], { newest: shown(T0 + 2 * HOUR, dearer), nowMs: T0 + 2 * HOUR });
    expect(usd(second)).toBe(2.5);
    const quoted = record(EMPTY_LEDGER, [POD], {});
    expect(usd(record(quoted, [dearer], { newest: shown(T0 + HOUR, dearer) }))).toBe(2);
  });

  test('a_pod_that_we_ended_billed_until_the_call_began', () => {
    const open = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), nowMs: T0 + HOUR });
    const end = { podId: 'id-a', askedAtMs: T0 + 1.5 * HOUR, payer: NOBODY, dayAt: utcDay };
    const ended = endedInLedger(open, end);
    expect(usd(ended)).toBe(0.75);
    const closed = record(ended, [], { newest: shown(T0 + 2 * HOUR), nowMs: T0 + 2 * HOUR });
    expect(usd(closed)).toBe(0.75);
  });

  test('a_pod_that_goes_on_after_it_was_ended_goes_on_costing', () => {
    const leaving = terminating('a', PAID);
    const open = record(EMPTY_LEDGER, [leaving], {});
    const ended = endedInLedger(open, {
      ...{ podId: 'id-a', askedAtMs: T0 + HOUR, payer: NOBODY, dayAt: utcDay },
    });
    expect(usd(record(ended, [leaving], { newest: shown(T0 + 2 * HOUR, leaving) }))).toBe(1);
  });

  test('a_pod_that_vanished_before_we_ended_it_is_not_counted_until_then', () => {
    const first = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), nowMs: T0 + HOUR });
    const missed = record(first, [POD], { newest: shown(T0 + 2 * HOUR), nowMs: T0 + 2 * HOUR });
    const end = { podId: 'id-a', askedAtMs: T0 + 3 * HOUR, payer: NOBODY, dayAt: utcDay };
    expect(endedInLedger(missed, end)).toBe(missed);
    const closed = record(missed, [], { newest: shown(T0 + 4 * HOUR), nowMs: T0 + 4 * HOUR });
    expect(usd(closed)).toBe(0.5);
    // Open: from the last listing that showed it to the first that did not.
    expect(openMicroUsd(closed, 0, T0 + 9 * HOUR)).toBe(500_013);
  });

  test('a_pod_that_a_listing_shows_as_stopped_is_counted_up_to_the_last_one_that_showed_it_running', () => {
    const first = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), nowMs: T0 + HOUR });
    const stopped = listing(T0 + 2 * HOUR, [{ ...listedOf(POD), status: 'exited' }]);
    const leaving = terminating('a', PAID);
    const second = record(first, [leaving], { newest: stopped, nowMs: T0 + 2 * HOUR });
    const end = { podId: 'id-a', askedAtMs: T0 + 3 * HOUR, payer: NOBODY, dayAt: utcDay };
    const closed = record(endedInLedger(second, end), [], {
      newest: shown(T0 + 4 * HOUR),
      nowMs: T0 + 4 * HOUR,
    });
    expect(usd(closed)).toBe(0.5);
    expect(usd(bill(closed, 0.7, T0 + 5 * HOUR))).toBe(0.7);
  });

  test('a_pod_that_is_back_goes_on_where_it_was_counted', () => {
    const first = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), nowMs: T0 + HOUR });
    const gone = record(first, [], { newest: shown(T0 + 2 * HOUR), nowMs: T0 + 2 * HOUR });
    expect(usd(record(gone, [POD], { newest: shown(T0 + 3 * HOUR, POD) }))).toBe(1.5);
  });
});

describe('R-051: for whom and for what', () => {
  test('boots_are_told_from_service_and_ended_boots_are_boots', () => {
    const boot = booting('a', { ...PAID, sinceMs: T0 });
    const first = record(EMPTY_LEDGER, [boot], { newest: shown(T0 + HOUR, boot) });
    const up = { ...POD, sinceMs: T0 + 1.5 * HOUR };
    const second = record(first, [up], { newest: shown(T0 + 2 * HOUR, up) });
    expect(spent(second)).toEqual({ microUsd: 1_000_000, bootingMicroUsd: 750_000 });
    const ended = terminating('a', { ...PAID, sinceMs: T0 + 2 * HOUR });
    const failed = record(first, [ended], { newest: shown(T0 + 2 * HOUR, ended) });
    expect(spent(failed).bootingMicroUsd).toBe(1_000_000);
  });

  test('how_long_an_adopted_pod_booted_is_not_known', () => {
    const adopted = booting('a', { ...PAID, origin: 'adopted' });
    const ledger = record(EMPTY_LEDGER, [adopted], { newest: shown(T0 + HOUR, adopted) });
    expect(spent(ledger)).toEqual({ microUsd: 500_000, bootingMicroUsd: 0 });
  });

  test('each_lease_pays_for_the_time_in_which_it_asked_for_the_pod', () => {
    const payerOf = () => ({ lease: 'l1', owner: 'alice' });
    const first = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), payerOf });
    const second = record(first, [POD], { newest: shown(T0 + 3 * HOUR, POD) });
    expect(spent(second, '', { lease: 'l1' }).microUsd).toBe(500_000);
    expect(spent(second, '', { pool: 'ocr' }).microUsd).toBe(1_500_000);
  });

  test('leases_without_end_make_no_ledger_without_end', () => {
    let ledger = EMPTY_LEDGER;
    for (let n = 1; n <= 300; n++) {
      const newest = shown(T0 + n * 1_000, POD);
      ledger = record(ledger, [POD], { newest, payerOf: () => ({ lease: `l${n}`, owner: 'alice' }) });
    }
    expect(ledger.totals.size).toBeLessThanOrEqual(101);
    expect(spent(ledger).microUsd).toBe(Math.floor((500_000 * 300) / 3_600));
  });

  test('a_day_ends_at_its_midnight_also_within_one_listing_interval', () => {
    const { untilMs, label } = utcDay(T0);
    const pod = { ...POD, createdAtMs: untilMs - 2 * HOUR };
    const ledger = record(EMPTY_LEDGER, [pod], { newest: shown(untilMs + HOUR, pod) });
    expect(usd(ledger, label)).toBe(1);
    expect(usd(ledger, utcDay(untilMs).label)).toBe(0.5);
    expect(usd(ledger, label.slice(0, 7))).toBe(1.5);
  });

  test('today_is_what_was_counted_today_and_what_is_open_of_it_and_unknown_on_a_damaged_day', () => {
    const { untilMs } = utcDay(T0);
    const tomorrow = utcDay(untilMs);
    const pod = { ...POD, createdAtMs: untilMs - HOUR };
    const ledger = record(EMPTY_LEDGER, [pod], { newest: shown(untilMs - HOUR / 2, pod) });
    expect(spentTodayUsd(ledger, tomorrow, untilMs + HOUR)).toBe(0.5);
    expect(spentTodayUsd({ ...ledger, damagedDay: tomorrow.label }, tomorrow, untilMs + HOUR)).toBeNull();
  });

  test('old_days_are_added_up_and_no_cent_is_lost', () => {
    const payerOf = () => ({ lease: 'l1', owner: 'alice' });
    const first = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), payerOf });
    const second = record(first, [POD], { newest: shown(T0 + 500 * 24 * HOUR, POD), payerOf });
    const folded = foldOldDays(second, utcDay(T0 + 500 * 24 * HOUR));
    expect(folded.totals.size).toBeLessThan(403);
    expect(spent(folded).microUsd).toBe(spent(second).microUsd);
    expect(foldOldDays(folded, utcDay(T0 + 500 * 24 * HOUR))).toBe(folded);
  });
});

describe('R-051: the provider’s bill', () => {
  const open = record(EMPTY_LEDGER, [POD], { newest: shown(T0 + HOUR, POD), nowMs: T0 + HOUR });
  const missed = record(open, [POD], { newest: shown(T0 + 2 * HOUR), nowMs: T0 + 2 * HOUR });
  const gone = record(missed, [], { newest: shown(T0 + 3 * HOUR), nowMs: T0 + 3 * HOUR });
  const day = utcDay(T0 + HOUR).label;

  test('closes_the_open_end_by_a_line_of_its_own_and_settles_when_it_says_so_twice', () => {
    expect(billsNeededFromMs(gone)).toBe(T0);
    const first = bill(gone, 0.6, T0 + 4 * HOUR);
    expect(usd(first)).toBe(0.6);
    const line = { podId: 'id-a', pool: 'ocr', day, atMs: T0 + 4 * HOUR, microUsd: 100_000 };
    expect(first.corrections).toEqual([line]);
    const second = bill(first, 0.6, T0 + 5 * HOUR);
    expect(usd(second)).toBe(0.6);
    expect(billsNeededFromMs(second)).toBeNull();
    expect(openMicroUsd(second, 0, T0 + 9 * HOUR)).toBe(0);
  });

  test('that_is_not_complete_yet_is_waited_for_and_one_that_never_comes_is_given_up', () => {
    const part = bill(bill(gone, 0.2, T0 + 4 * HOUR), 0.2, T0 + 5 * HOUR);
    expect(billsNeededFromMs(part)).toBe(T0);
    expect(usd(bill(part, 0.7, T0 + 6 * HOUR))).toBe(0.7);
    expect(billsNeededFromMs(bill(part, null, T0 + 50 * HOUR))).toBe(T0);
    const late = bill(part, 0.8, T0 + 51 * HOUR);
    expect([usd(late), billsNeededFromMs(late)]).toEqual([0.8, null]);
  });

  test('that_is_lower_by_the_rounding_of_its_hours_settles_a_pod_and_takes_nothing_back', () => {
    const settled = bill(bill(gone, 0.4999, T0 + 4 * HOUR), 0.4999, T0 + 5 * HOUR);
    expect(billsNeededFromMs(settled)).toBeNull();
    expect(usd(settled)).toBe(0.5);
  });

  test('is_set_against_what_all_prices_of_the_pod_came_to', () => {
    const dearer = { ...POD, priceUsdPerHour: 2 };
    const second = record(open, [dearer], { newest: shown(T0 + 2 * HOUR, dearer), nowMs: T0 + 2 * HOUR });
    const closed = record(second, [], { newest: shown(T0 + 3 * HOUR), nowMs: T0 + 3 * HOUR });
    expect(usd(bill(closed, 2.6, T0 + 4 * HOUR))).toBe(2.6);
  });

  test('of_a_pod_that_still_runs_is_not_asked_for', () => {
    expect(billsNeededFromMs(open)).toBeNull();
    expect(usd(bill(open, 9, T0 + 2 * HOUR))).toBe(0.5);
  });
});

describe('L12: over a fleet that lives, ends, vanishes and is listed at random', () => {
  const step = fc.record({
    ms: fc.integer({ min: 1, max: HOUR }),
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    act: fc.constantFrom('create', 'end', 'vanish', 'list', 'list', 'wait'),
    usd: fc.integer({ min: 10, max: 3_000 }).map((n) => n / 1_000),
    callMs: fc.integer({ min: 0, max: 5_000 }),
  });

  /** The provider's own book: what a pod cost from its creation to its end. */
  interface Real {
    readonly pod: Pod;
    readonly usd: number;
    endMs: number | null;
  }

  test('spend_never_falls_is_never_too_high_and_equals_the_bill_once_all_bills_are_in', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const real = new Map<string, Real>();
        const pods = new Map<string, Pod>();
        let nowMs = T0;
        let ledger = EMPTY_LEDGER;
        let newest = shown(T0);
        let before = 0;
        let n = 0;
        const costOf = (one: Real, untilMs: number) =>
          (one.usd * (Math.min(one.endMs ?? untilMs, untilMs) - one.pod.createdAtMs)) / HOUR;
        const trueUsd = () => [...real.values()].reduce((sum, one) => sum + costOf(one, nowMs), 0);
        const check = () => {
          const now = spent(ledger).microUsd;
          expect(now).toBeGreaterThanOrEqual(before);
          expect(now).toBeLessThanOrEqual(trueUsd() * 1e6 + 1);
          expect(now + openMicroUsd(ledger, 0, nowMs)).toBeGreaterThanOrEqual(trueUsd() * 1e6 - 8);
          before = now;
        };
        const turn = () => {
          const isGone = (pod: Pod) =>
            pod.shownAtMs !== null && !newest.pods.some(({ id }) => id === pod.id) && newest.startedAtMs > T0;
          for (const [key, pod] of pods) if (pod.state === 'terminating' && isGone(pod)) pods.delete(key);
          ledger = record(ledger, [...pods.values()], { newest, nowMs });
          check();
        };
        for (const { ms, key, act, usd: price, callMs } of steps) {
          nowMs += ms;
          const pod = pods.get(key);
          if (act === 'create' && pod === undefined) {
            const id = `id-${key}${n++}`;
            const born = serving(key, { id, priceUsdPerHour: price, createdAtMs: nowMs, shownAtMs: null });
            pods.set(key, born);
            real.set(id, { pod: born, usd: price, endMs: null });
          }
          const one = real.get(pod?.id ?? '');
          if (act === 'vanish' && one !== undefined) one.endMs ??= nowMs;
          if (act === 'end' && pod?.state === 'serving' && one !== undefined && one.endMs === null) {
            const askedAtMs = nowMs;
            nowMs += callMs;
            one.endMs = nowMs - Math.floor(callMs / 2);
            ledger = endedInLedger(ledger, { podId: pod.id, askedAtMs, payer: NOBODY, dayAt: utcDay });
          }
          if (act === 'end' && pod?.state === 'serving')
            pods.set(key, terminating(key, { ...pod, state: 'terminating', why: 'idle', sinceMs: nowMs }));
          if (act === 'list') {
            const there = [...real.values()].filter(({ endMs }) => endMs === null).map(({ pod: p }) => p);
            newest = shown(nowMs, ...there);
            for (const p of there) {
              const held = pods.get(p.key);
              if (held?.id === p.id) pods.set(p.key, { ...held, shownAtMs: held.shownAtMs ?? nowMs });
            }
            nowMs += 100;
          }
          turn();
        }
        for (const one of real.values()) one.endMs ??= nowMs;
        pods.clear();
        newest = shown(nowMs + HOUR);
        turn();
        const records = [...real].map(([podId, one]) => ({ podId, usd: costOf(one, nowMs) }));
        for (let asks = 0; asks < 2; asks++) ledger = settleBills(ledger, records, { nowMs, dayAt: utcDay });
        const billed = records.reduce((sum, { usd: amount }) => sum + Math.round(amount * 1e6), 0);
        expect(spent(ledger).microUsd).toBe(billed);
        expect(ledger.lines.size).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
