import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;
const HIDDEN_MS = 60_000;
const HIDDEN = [
  'created-then-500',
  'created-then-cut',
  'created-then-null',
  'created-then-internal-error',
] as const;

/**
 * One pod reads pages, and a floor of two wants one more, for which nine are allowed: nothing but the intent itself keeps a
 * third away.
 */
async function openBeforeTheSecond(listingGapMs = 5_000): Promise<RentedFleet> {
  const rented = await RentedFleet.open({
    pools: [{ name: 'ocr', minPods: 2, maxPods: 9 }],
    listingGapMs,
  });
  rented.work.demand.set('ocr', () => 30);
  await rented.until('the first boots', () => rented.pods('booting').length === 1, MINUTE_MS);
  return rented;
}

describe('a create whose answer is lost (R-060, R-039, contract 8; must show)', () => {
  test.each(HIDDEN.flatMap((answer) => [[answer, 'graphql'] as const, [answer, 'v2'] as const]))(
    'that_was_carried_out_and_is_hidden_for_a_minute_is_found_and_used_and_no_second_pod_is_bought: %s, %s',
    async (answer, api) => {
      const rented = await openBeforeTheSecond();
      const { fake } = rented;
      fake.nextCreates(1, { answer, invisibleMs: HIDDEN_MS });
      if (api === 'v2') fake.ban('graphql', 600 * MINUTE_MS);
      await rented.until('the second is bought', () => fake.pods().length === 2, 10 * MINUTE_MS);
      const boughtMs = fake.nowMs();
      const hidden = fake.pods()[1];
      await rented.advance(HIDDEN_MS - 10_000);
      expect(rented.pods('renting')).toMatchObject([{ answer: 'ambiguous', name: hidden?.request.name }]);
      await rented.until('both serve', () => rented.pods('serving').length === 2, 5 * MINUTE_MS);
      expect(rented.pods('serving').map(({ id }) => id)).toContain(hidden?.id);
      // Seen by the next listing, 10 s at most, and up 65 s after its create: hiding has cost next to nothing.
      expect(fake.nowMs() - boughtMs).toBeLessThan(HIDDEN_MS + 25_000);
      await rented.advance(6 * MINUTE_MS);
      expect(fake.pods()).toHaveLength(2);
      const creates = api === 'v2' ? 'v2 POST /pods' : 'graphql podFindAndDeployOnDemand';
      expect(fake.calls()[creates]).toBe(api === 'v2' ? 1 : 2);
      expect(rented.billing().pods).toBe(2);
    },
  );

  test('that_was_not_carried_out_holds_its_place_for_15_minutes_and_is_then_made_again', async () => {
    const rented = await openBeforeTheSecond(20_000);
    const { fake } = rented;
    fake.nextCreates(1, { answer: 'server-error' });
    await rented.until(
      'an answer is lost',
      () => rented.said('pod_rent_ambiguous').length === 1,
      10 * MINUTE_MS,
    );
    await rented.advance(14 * MINUTE_MS);
    expect(fake.pods()).toHaveLength(1);
    await rented.until('the floor is met', () => rented.pods('serving').length === 2, 5 * MINUTE_MS);
    expect(fake.pods()).toHaveLength(2);
  });
});
