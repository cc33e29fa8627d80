import { describe, expect, test } from 'vitest';
import { RentedFleet } from './rented-fleet.ts';

const MINUTE_MS = 60_000;

/** Two pods of ours among 1,500 of the account, whose listing has three pages. */
async function openCrowded(): Promise<RentedFleet> {
  const rented = await RentedFleet.open({
    pools: [{ name: 'ocr', minPods: 2, maxPods: 2 }],
    knobs: { maxPageSize: 500, pod: { bootMs: 3_000, listenerDelayMs: 0 } },
  });
  const { fake } = rented;
  rented.work.demand.set('ocr', () => 32);
  await rented.until('2 pods serve', () => rented.pods('serving').length === 2, 5 * MINUTE_MS);
  const [one] = fake.pods();
  if (one === undefined) throw new Error('nothing was rented');
  for (let n = 2; n < 1_500; n += 1) {
    const request = { ...one.request, name: `somebody-else-${n}`, env: {} };
    fake.account.pods.set(`other${n}`, { ...one, id: `other${n}`, request });
  }
  return rented;
}

/** The next listings: the first page comes, the second fails twice, and GraphQL does not answer either. */
function cutListings({ fake }: RentedFleet, times: number): void {
  const page = { api: 'v2', operation: 'GET /pods' } as const;
  for (let n = 0; n < times; n += 1) {
    fake.failNext({ ...page, afterwards: true });
    fake.failNext({ ...page, status: 502, times: 2 });
  }
  fake.failNext({ api: 'graphql', operation: 'myself', status: 502, times });
}

describe('an account with 1,500 pods (R-063, R-035, L5; must show)', () => {
  test('is_listed_whole_and_after_a_page_that_fails_nothing_is_ended_or_gone', async () => {
    const rented = await openCrowded();
    const { fake } = rented;
    await rented.advance(2 * MINUTE_MS);
    const { newest } = rented.renter.facts.listing;
    expect(newest?.pods).toHaveLength(1_500);

    cutListings(rented, 4);
    await rented.until('four failed', () => rented.said('listing_failed').length === 4, 10 * MINUTE_MS);
    expect(rented.renter.facts.listing.newest?.pods).toHaveLength(1_500);
    expect(rented.pods('serving')).toHaveLength(2);
    await rented.advance(2 * MINUTE_MS);
    expect(rented.renter.facts.listing.newest?.startedAtMs).toBeGreaterThan(newest?.startedAtMs ?? 0);
    expect(rented.pods('serving')).toHaveLength(2);
    expect(fake.calls()['v2 DELETE /pods/{id}']).toBeUndefined();
    expect(fake.calls()['graphql podTerminate']).toBeUndefined();
  });

  test('is_taken_over_by_a_controller_without_a_journal_only_once_a_listing_was_whole', async () => {
    const rented = await openCrowded();
    const { fake } = rented;
    rented.kill();
    rented.loseDisk();
    cutListings(rented, 6);
    await rented.start();
    await rented.until('six failed', () => rented.said('listing_failed').length === 6, 5 * MINUTE_MS);
    expect(rented.pods()).toEqual([]);
    expect(fake.pods()).toHaveLength(1_500);
    await rented.until('both serve again', () => rented.pods('serving').length === 2, MINUTE_MS);
    expect(rented.pods().map(({ id }) => id?.startsWith('other'))).toEqual([false, false]);
    expect(fake.pods()).toHaveLength(1_500);
  });
});
