import { setTimeout as sleep } from 'node:timers/promises';
import { NO_LISTING } from '@pagefleet/core';
import type { ListedPod, Provider } from '@pagefleet/providers';
import { afterEach, describe, expect, test } from 'vitest';
import { realClock } from '../clock.ts';
import { keyOf } from '../test-kit/pods.ts';
import { quietLogger } from '../test-kit/quiet-logger.ts';
import type { Facts } from '../world.ts';
import { ListingKeeper } from './listing-keeper.ts';
import { WorkerBook } from './worker-book.ts';

let keeper: ListingKeeper | null = null;
afterEach(() => keeper?.stop());

const POD: ListedPod = {
  id: 'id-a',
  name: 'a',
  mark: {
    ...{ clusterId: 'us', podKey: keyOf('a'), keyId: 'old', pool: 'ocr', name: 'a', width: 2 },
    ...{ configHash: 'h', spot: false },
  },
  url: 'http://[::1]:7',
  createdAtMs: 1,
  priceUsdPerHour: 0,
  status: 'running',
  card: null,
  cloud: null,
  detail: 'running',
};

function setUp(list: () => Promise<ListedPod[]>, gapMs = 40) {
  const facts: Facts = {
    listing: NO_LISTING,
    providerAnsweredMs: null,
    offers: null,
    closing: false,
    stopping: false,
    probes: new Map(),
    workers: new WorkerBook(),
  };
  const outcomes: string[] = [];
  const provider = { free: true, list } as unknown as Provider;
  keeper = new ListingKeeper({
    provider,
    facts,
    logger: quietLogger().logger,
    clock: realClock,
    gapMs,
    onListing: (outcome) => outcomes.push(outcome),
  });
  return { keeper, facts, outcomes };
}

describe('the account’s listing (R-038, R-063)', () => {
  test('one_listing_at_a_time_and_no_faster_than_its_pace_however_many_want_it', async () => {
    let running = 0;
    let most = 0;
    let calls = 0;
    const { keeper: one } = setUp(async () => {
      calls += 1;
      running += 1;
      most = Math.max(most, running);
      await sleep(10);
      running -= 1;
      return [];
    });
    for (let n = 0; n < 40; n += 1) {
      one.want(Date.now());
      await sleep(5);
    }
    await sleep(60);
    expect(most).toBe(1);
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThanOrEqual(7);
  });

  test('a_listing_that_fails_is_none_and_leaves_what_is_known', async () => {
    let fail = false;
    const {
      keeper: one,
      facts,
      outcomes,
    } = setUp(async () => {
      if (fail) throw new Error('the account is away');
      return [POD];
    });
    one.want(Date.now());
    await sleep(60);
    const known = facts.listing;
    const answered = facts.providerAnsweredMs;
    fail = true;
    one.want(Date.now());
    await sleep(100);
    expect(outcomes).toEqual(['complete', 'failed']);
    expect(facts.listing).toBe(known);
    expect(facts.providerAnsweredMs).toBe(answered);
  });

  test('marks_are_kept_for_the_tokens_and_addresses_become_urls', async () => {
    const { keeper: one, facts } = setUp(async () => [POD, { ...POD, id: 'x', mark: null, url: null }]);
    one.want(Date.now());
    await sleep(60);
    expect(one.marks.get(keyOf('a'))?.keyId).toBe('old');
    expect(facts.listing.newest?.pods.map((pod) => pod.url)).toEqual(['http://[::1]:7', null]);
  });

  test('an_earlier_wish_is_not_put_off_by_a_later_one', async () => {
    let calls = 0;
    const { keeper: one } = setUp(async () => {
      calls += 1;
      return [];
    });
    one.want(Date.now() + 30);
    one.want(Date.now() + 60_000);
    await sleep(90);
    expect(calls).toBe(1);
  });
});
