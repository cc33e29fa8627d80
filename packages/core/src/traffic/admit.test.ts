import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideAdmit, effectiveMaxQueued, retryAfterSeconds, shareOf } from './admit.ts';

const quiet = { pagesPerSecond: 0, jitter: 0.5 };

describe('admission (R-013, L11)', () => {
  test('exactly_as_many_pages_as_fit_are_admitted_and_the_next_one_is_refused', () => {
    fc.assert(
      fc.property(
        fc.record({ maxInFlight: fc.integer({ min: 1, max: 50 }), maxQueued: fc.nat(50), width: fc.nat(60) }),
        ({ maxInFlight, maxQueued, width }) => {
          let inFlight = 0;
          let queued = 0;
          const fits = maxInFlight + effectiveMaxQueued(maxInFlight, maxQueued);
          for (let held = 0; held < fits; held += 1) {
            const decision = decideAdmit({ inFlight, queued, maxInFlight, maxQueued, pages: 1, ...quiet });
            expect(decision).toEqual({ kind: 'admitted' });
            if (inFlight < Math.min(width, maxInFlight)) inFlight += 1;
            else queued += 1;
          }
          const refused = decideAdmit({ inFlight, queued, maxInFlight, maxQueued, pages: 1, ...quiet });
          expect(refused).toMatchObject({
            kind: 'refused',
            pagesOver: 1,
            pagesInFlight: inFlight,
            pagesQueued: queued,
          });
        },
      ),
    );
  });

  test('a_refusal_holds_everything_its_headers_say', () => {
    const decision = decideAdmit({
      inFlight: 8,
      queued: 8,
      maxInFlight: 8,
      maxQueued: 0,
      pages: 4,
      pagesPerSecond: 0.5,
      jitter: 0.5,
    });
    expect(decision).toEqual({
      kind: 'refused',
      pagesOver: 4,
      retryAfterSeconds: 8,
      pageWidth: 8,
      queueLimit: 8,
      pagesInFlight: 8,
      pagesQueued: 8,
    });
  });

  test('the_wait_is_a_whole_number_of_seconds_from_1_to_30_within_a_fifth_of_what_is_expected', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 200, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (pagesOver, pagesPerSecond, jitter) => {
          const seconds = retryAfterSeconds({ pagesOver, pagesPerSecond, jitter });
          const expected = Math.min(30, Math.max(1, pagesPerSecond > 0 ? pagesOver / pagesPerSecond : 10));
          expect(Number.isInteger(seconds)).toBe(true);
          expect(seconds).toBeGreaterThanOrEqual(Math.max(1, Math.floor(expected * 0.8)));
          expect(seconds).toBeLessThanOrEqual(Math.min(30, Math.ceil(expected * 1.2)));
        },
      ),
    );
  });

  test('nothing_finished_yet_means_about_ten_seconds_and_jitter_spreads_it', () => {
    const seconds = [0, 0.5, 1].map((jitter) =>
      retryAfterSeconds({ pagesOver: 900, pagesPerSecond: 0, jitter }),
    );
    expect(seconds).toEqual([8, 10, 12]);
  });

  test('the_shares_of_n_workers_add_up_to_the_total_and_to_less_than_one_more_each (R-007)', () => {
    fc.assert(
      fc.property(fc.nat(20_000), fc.integer({ min: 1, max: 64 }), (total, n) => {
        const sum = n * shareOf(total, n);
        expect(sum).toBeGreaterThanOrEqual(total);
        expect(sum).toBeLessThan(total + n);
      }),
    );
    expect(shareOf(10, 0)).toBe(10);
  });
});
