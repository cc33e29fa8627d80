import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import { isGone, listingFreshness, NO_LISTING, recordListing } from './listing.ts';
import { transition } from './pod-transition.ts';
import { listed, listing, registry, reports, serving, T0, terminating, world } from './world-kit.ts';

const POD = serving('a');
const HERE = [listed({ key: 'a' })];

function history(previous: ReturnType<typeof listing> | null, newest: ReturnType<typeof listing> | null) {
  return { newest, previous };
}

describe('L5: gone', () => {
  test('needs_two_complete_listings_in_a_row', () => {
    expect(isGone(POD, history(null, listing(T0, [])), T0)).toBe(false);
    expect(isGone(POD, history(listing(T0 - 60_000, HERE), listing(T0, [])), T0)).toBe(false);
    expect(isGone(POD, history(listing(T0 - 60_000, []), listing(T0, HERE)), T0)).toBe(false);
    expect(isGone(POD, history(listing(T0 - 60_000, []), listing(T0, [])), T0)).toBe(true);
  });

  test('is_never_read_from_a_stale_or_an_unknown_listing', () => {
    const old = history(listing(T0 - 400_000, []), listing(T0 - 200_000, []));
    expect(listingFreshness(old, T0)).toBe('stale');
    expect(isGone(POD, old, T0)).toBe(false);
    expect(isGone(POD, NO_LISTING, T0)).toBe(false);
  });

  test('of_a_pod_never_seen_needs_a_listing_15_minutes_after_its_creation', () => {
    const unseen = serving('a', { shownAtMs: null, createdAtMs: T0 - 899_000 });
    const absent = history(listing(T0 - 60_000, []), listing(T0, []));
    expect(isGone(unseen, absent, T0)).toBe(false);
    expect(isGone({ ...unseen, createdAtMs: T0 - 900_000 }, absent, T0)).toBe(true);
  });

  test('of_a_pod_never_shown_needs_two_listings_after_the_provider_took_its_end', () => {
    const pod = terminating('a', { shownAtMs: null, createdAtMs: T0 - 10_000 });
    const accepted = transition(pod, { kind: 'end-accepted', atMs: T0 - 8_000 }, T0 - 8_000);
    if (!accepted.legal) throw new Error('illegal');
    const since = (previousMs: number) => history(listing(previousMs, []), listing(T0 - 1_000, []));
    expect(isGone(pod, since(T0 - 5_000), T0)).toBe(false);
    expect(isGone(accepted.pod, since(T0 - 5_000), T0)).toBe(true);
    expect(isGone(accepted.pod, since(T0 - 9_000), T0)).toBe(false);
  });

  test('never_holds_for_a_pod_that_answers', () => {
    const absent = history(listing(T0 - 60_000, []), listing(T0 - 1_000, []));
    const change = { registry: registry(POD), listing: absent };
    expect(decide(world(change)).forget).toEqual(['a']);
    const answers = decide(world({ ...change, reports: reports({ a: { lastGoodMs: T0 - 10 } }) }));
    expect(answers.forget).toEqual([]);
  });

  test('terminated_means_absent_twice_not_asked', () => {
    const ended = terminating('a');
    expect(decide(world({ registry: registry(ended) })).forget).toEqual([]);
    const once = history(listing(T0 - 60_000, HERE), listing(T0 - 1, []));
    expect(decide(world({ registry: registry(ended), listing: once })).forget).toEqual([]);
    const twice = history(listing(T0 - 60_000, []), listing(T0 - 1, []));
    expect(decide(world({ registry: registry(ended), listing: twice })).forget).toEqual(['a']);
  });
});

describe('recordListing', () => {
  test('keeps_the_two_newest', () => {
    const [one, two, three] = [listing(1_000, []), listing(2_000, []), listing(3_000, HERE)];
    const both = recordListing(recordListing(NO_LISTING, one), two);
    expect(both).toEqual({ newest: two, previous: one });
    expect(recordListing(both, three)).toEqual({ newest: three, previous: two });
  });

  test('takes_two_that_overlap_for_one_look', () => {
    const one = listing(1_000, []);
    const overlapping = listing(1_050, []);
    expect(recordListing(recordListing(NO_LISTING, one), overlapping)).toEqual({
      newest: overlapping,
      previous: null,
    });
  });

  test('drops_one_that_is_older_than_the_newest', () => {
    const both = recordListing(recordListing(NO_LISTING, listing(1_000, [])), listing(2_000, []));
    expect(recordListing(both, listing(1_500, []))).toEqual(both);
  });
});
