import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;

/** The dearest instant, by the fake's own table, looked for after every step. */
function watchRate(rented: RentedFleet): { peakUsdPerHour: number } {
  const seen = { peakUsdPerHour: 0 };
  rented.time.onStep = () => {
    seen.peakUsdPerHour = Math.max(seen.peakUsdPerHour, rented.billing().usdPerHour);
  };
  return seen;
}

describe('a $/hour limit with 20 pods asked for (R-051; must show)', () => {
  test('is_never_exceeded_while_what_is_billed_is_what_was_quoted', async () => {
    const rented = await RentedFleet.open({
      pools: [{ name: 'ocr', minPods: 20, maxPods: 20 }],
      money: { usdPerHour: 2 },
      control: { rampPods: 20 },
    });
    const seen = watchRate(rented);
    rented.work.demand.set('ocr', () => 20 * 16);
    await rented.advance(12 * MINUTE_MS);
    // Four A40s at $0.44.
    expect(rented.pods('serving')).toHaveLength(4);
    expect(seen.peakUsdPerHour).toBeCloseTo(1.76);
    expect(rented.fake.pods()).toHaveLength(4);
  });

  test('is_overshot_by_no_more_than_one_pass_rents_where_the_bill_is_above_the_quote_and_the_excess_leaves', async () => {
    const rented = await RentedFleet.open({
      pools: [{ name: 'ocr', minPods: 20, maxPods: 20 }],
      money: { usdPerHour: 4 },
      control: { rampPods: 20 },
      knobs: { pod: { chargedUsdPerHour: 0.6 } },
    });
    const seen = watchRate(rented);
    rented.work.demand.set('ocr', () => 20 * 16);
    await rented.until('the first serves', () => rented.pods('serving').length === 1, 10 * MINUTE_MS);
    await rented.advance(12 * MINUTE_MS);
    // One at $0.60, then one pass that rents 7 at a quote of $0.44; from then on every price is known.
    expect(seen.peakUsdPerHour).toBeCloseTo(0.6 + 7 * 0.6);
    expect(rented.fake.pods()).toHaveLength(8);
    expect(rented.billing()).toEqual({ pods: 6, usdPerHour: expect.closeTo(3.6) });
  });
});
