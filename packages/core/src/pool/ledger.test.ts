import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Ledger, recordLedger, spentSinceUsd, spentUsd } from './ledger.ts';
import type { Pod } from './pod-state.ts';
import { transition } from './pod-transition.ts';
import { listedOf, listing, registry, serving, T0, terminating } from './world-kit.ts';

const HOUR = 3_600_000;
const POD = serving('a', { priceUsdPerHour: 0.5, createdAtMs: T0 });

function shown(atMs: number, ...pods: Pod[]) {
  return listing(atMs, pods.map(listedOf));
}

describe('R-051, L12: the ledger', () => {
  test('counts_a_pod_from_its_creation_also_one_that_is_adopted_late', () => {
    const ledger = recordLedger([], registry(POD), shown(T0 + 2 * HOUR, POD), T0 + 2 * HOUR);
    expect(spentUsd(ledger)).toBeCloseTo(1);
  });

  test('counts_each_price_for_its_own_time', () => {
    const first = recordLedger([], registry(POD), null, T0 + HOUR);
    const dearer = registry({ ...POD, priceUsdPerHour: 2 });
    const second = recordLedger(first, dearer, null, T0 + HOUR);
    expect(spentUsd(recordLedger(second, dearer, null, T0 + 2 * HOUR))).toBeCloseTo(2.5);
  });

  test('stops_a_pod_that_we_ended_at_the_ask_or_the_last_listing_that_shows_it', () => {
    const first = recordLedger([], registry(POD), null, T0 + HOUR);
    const ended = terminating('a', { priceUsdPerHour: 0.5, createdAtMs: T0, sinceMs: T0 + HOUR });
    const asked = recordLedger(first, registry(ended), shown(T0 + HOUR - 1, ended), T0 + 2 * HOUR);
    expect(spentUsd(asked)).toBeCloseTo(0.5);
    const still = recordLedger(asked, registry(ended), shown(T0 + 2 * HOUR, ended), T0 + 2 * HOUR);
    expect(spentUsd(still)).toBeCloseTo(1);
    expect(spentUsd(recordLedger(still, registry(), shown(T0 + 3 * HOUR), T0 + 3 * HOUR))).toBeCloseTo(1);
  });

  test('leaves_a_vanished_pod_open_beyond_the_last_listing_that_showed_it', () => {
    const first = recordLedger([], registry(POD), shown(T0 + HOUR, POD), T0 + HOUR);
    const [line] = recordLedger(first, registry(), shown(T0 + 2 * HOUR), T0 + 2 * HOUR);
    expect(line).toMatchObject({ state: 'closed', shownUntilMs: T0 + HOUR, countedUntilMs: T0 + 2 * HOUR });
  });

  test('tells_what_was_spent_since_an_instant', () => {
    const ledger = recordLedger([], registry(POD), null, T0 + 3 * HOUR);
    expect(spentSinceUsd(ledger, T0 + 2 * HOUR)).toBeCloseTo(0.5);
  });

  test('never_falls_whatever_happens_to_the_pods', () => {
    const step = fc.record({
      ms: fc.integer({ min: 0, max: HOUR }),
      key: fc.constantFrom('a', 'b', 'c'),
      act: fc.constantFrom('add', 'end', 'vanish', 'price', 'list', 'wait'),
      usd: fc.double({ min: 0.1, max: 3, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let nowMs = T0;
        let ledger: Ledger = [];
        let newest = shown(T0);
        let spent = 0;
        const pods = new Map<string, Pod>();
        for (const { ms, key, act, usd } of steps) {
          nowMs += ms;
          const pod = pods.get(key);
          if (act === 'add' && pod === undefined)
            pods.set(key, serving(key, { priceUsdPerHour: usd, createdAtMs: nowMs }));
          if (act === 'vanish') pods.delete(key);
          if (act === 'price' && pod !== undefined) pods.set(key, { ...pod, priceUsdPerHour: usd });
          const ended =
            act === 'end' && pod !== undefined ? transition(pod, { kind: 'end', why: 'idle' }, nowMs) : null;
          if (ended?.legal) pods.set(key, ended.pod);
          if (act === 'list') newest = shown(nowMs, ...pods.values());
          ledger = recordLedger(ledger, pods, newest, nowMs);
          expect(spentUsd(ledger)).toBeGreaterThanOrEqual(spent - 1e-9);
          spent = spentUsd(ledger);
        }
      }),
    );
  });
});
