import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;
const LOOKS = ['exited', 'terminated', 'vanished'] as const;

describe('a spot pod that is lost (R-056)', () => {
  test.each(LOOKS.flatMap((look) => [[look, 'busy', 8_000] as const, [look, 'idle', MINUTE_MS] as const]))(
    'is_noticed_by_the_next_page_or_within_a_minute_and_replaced_by_spot: %s, %s',
    async (look, load, withinMs) => {
      const rented = await RentedFleet.open({
        pools: [{ name: 'ocr', minPods: 2, maxPods: 2, machine: { spot: 'only' } }],
        longestPauseMs: 1_000,
      });
      const { fake, work } = rented;
      work.demand.set('ocr', () => 32);
      const both = () => rented.pods('serving').length === 2;
      await rented.until('both serve', both, 10 * MINUTE_MS);
      if (load === 'idle') work.demand.set('ocr', () => 0);
      await rented.advance(MINUTE_MS + 7_000);

      const lost = rented.pods('serving')[0]?.id ?? '';
      expect(fake.outbid(lost, look)).toBe(true);
      const lostMs = fake.nowMs();
      const isHeld = () => rented.pods('serving').some(({ id }) => id === lost);
      await rented.until('it is noticed', () => !isHeld(), withinMs);
      await rented.until('another is rented', () => fake.pods().length === 3, 3 * MINUTE_MS);
      // Gone is what two listings say; until then it counts, and nothing is rented in its place.
      expect(fake.nowMs() - lostMs).toBeLessThan(2 * MINUTE_MS);
      await rented.until('both serve', both, 3 * MINUTE_MS);
      await rented.advance(2 * MINUTE_MS);
      expect(fake.pods()).toHaveLength(3);
      expect(fake.pods().every(({ request }) => request.bidMicroUsdPerGpu === 240_000)).toBe(true);
      expect(rented.billing()).toEqual({ pods: 2, usdPerHour: 0.48 });
    },
  );
});
