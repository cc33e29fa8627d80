import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyPlan } from './apply-plan.ts';
import { decide } from './decide.ts';
import { liveCost } from './live-cost.ts';
import { transition } from './pod-transition.ts';
import type { World } from './world.ts';
import { listedOf, listing, rents, settings, T0, world } from './world-kit.ts';

const QUOTE = 0.5;

/** The rents of a pass are carried out, and each pod turns out to bill `usd` an hour. */
function carryOut(before: World, after: World, usd: number, nowMs: number): World {
  const registry = new Map(after.registry);
  for (const pod of registry.values()) {
    if (pod.state !== 'renting' || before.registry.has(pod.key)) continue;
    const created = { kind: 'created', id: `id-${pod.key}`, url: null, priceUsdPerHour: usd } as const;
    const result = transition(pod, created, nowMs);
    if (result.legal) registry.set(pod.key, result.pod);
  }
  const shown = [...registry.values()].map(listedOf);
  const history = { newest: listing(nowMs, shown), previous: before.listing.newest };
  return { ...after, registry, listing: history, nowMs: nowMs + 1_000 };
}

describe('R-051: a $/hour limit with 20 pods asked for', () => {
  test('is_overshot_by_no_more_than_what_one_pass_rents_whatever_the_pods_turn_out_to_bill', () => {
    const prices = fc.array(
      fc.integer({ min: 10, max: 400 }).map((n) => n / 100),
      { minLength: 20, maxLength: 20 },
    );
    fc.assert(
      fc.property(
        prices,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 12 }),
        (bills, ramp, limit) => {
          const pool = settings({
            ...{ free: false, priceUsdPerHour: QUOTE, minPods: 20, maxPods: 20, rampPods: ramp },
          });
          // The hard limit is far away: what is rented stays, so that the sum shows.
          const limits = { usdPerHour: limit, usdPerDay: 1e6, hardUsdPerHour: 1e6, hardUsdPerDay: 1e6 };
          let now = world({ pools: [pool], limits });
          let n = 0;
          for (const usd of bills) {
            const liveBefore = liveCost(now).usdPerHour;
            const plan = decide(now);
            const rented = rents(plan);
            // By what was quoted, no pass goes above the limit; once it is reached, none rents.
            expect(liveBefore + rented * QUOTE).toBeLessThanOrEqual(Math.max(limit, liveBefore) + 1e-9);
            const applied = applyPlan(now, plan, () => ({ key: `k${n}`, name: `k${n++}` }));
            now = carryOut(now, applied, usd, now.nowMs);
            const overshoot = liveCost(now).usdPerHour - Math.max(limit, liveBefore);
            expect(overshoot).toBeLessThanOrEqual(rented * (usd - QUOTE) + 1e-9);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test('at_the_quoted_price_the_limit_is_filled_and_not_passed', () => {
    const pool = settings({ free: false, priceUsdPerHour: QUOTE, minPods: 20, maxPods: 20, rampPods: 20 });
    const start = world({ pools: [pool], limits: { usdPerHour: 2.2, usdPerDay: 1e6 }, nowMs: T0 });
    expect(rents(decide(start))).toBe(4);
  });
});
