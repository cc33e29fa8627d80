import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { caps } from './caps.ts';
import { chooseOffers } from './choose-offer.ts';
import { type ClientLease, leasesOfWorld, liveLease, payersOf } from './lease-book.ts';
import {
  decideLease,
  LEASES_PER_OWNER,
  type LeaseDecision,
  type LeasePool,
  type LeaseRequest,
} from './lease-request.ts';
import type { Offer } from './offer.ts';
import { registry, serving, settings, T0, world } from './world-kit.ts';

const POOL: LeasePool = { name: 'ocr', cap: 10, cards: ['NVIDIA A40', 'NVIDIA L4'], hasCards: true };

function ask(
  request: Partial<LeaseRequest>,
  book: readonly ClientLease[] = [],
  input: { pools?: LeasePool[]; nowMs?: number; newId?: string } = {},
): LeaseDecision {
  const { pools = [POOL], nowMs = T0, newId = 'new' } = input;
  return decideLease({ owner: 'alice', isOperator: false, ...request }, { book, pools, nowMs, newId });
}

function granted(decision: LeaseDecision): ClientLease {
  if (decision.kind !== 'granted') throw new Error(`not granted: ${decision.kind}`);
  return decision.lease;
}

function notesOf(decision: LeaseDecision): string {
  return 'notes' in decision ? decision.notes.join('\n') : '';
}

const HELD = granted(ask({ pods: 8, ttlMs: 600_000 }, [], { newId: 'l1' }));

describe('R-053: taking a lease', () => {
  test('gives_floor_and_cap_a_time_and_clamps_what_is_too_much_with_a_note', () => {
    const decision = ask({ pods: 13, cap: 128, ttlMs: 90_000_000 });
    const until = { expiresAtMs: T0 + 86_400_000 };
    expect(granted(decision)).toMatchObject({
      floor: { pods: 10, ...until },
      narrowing: { cap: 10, ...until },
    });
    expect(notesOf(decision)).toMatch(/ttl_s: 90000 .*\n.*max_pods: 128 .*\n.*pods: 13 /);
  });

  test('the_floor_is_never_above_the_cap_of_the_same_lease', () => {
    const decision = ask({ pods: 8, cap: 3 });
    expect(granted(decision)).toMatchObject({ floor: { pods: 3 }, narrowing: { cap: 3 } });
    expect(notesOf(decision)).toContain('max_pods is 3');
  });

  test('no_pods_with_a_cap_is_a_cap_without_a_floor_and_no_pods_alone_releases', () => {
    expect(granted(ask({ pods: 0, cap: 4 }, [HELD]))).toMatchObject({ floor: null, narrowing: { cap: 4 } });
    expect(ask({ pods: 0 }, [HELD])).toMatchObject({ kind: 'released', lease: HELD, notes: [] });
    expect(ask({ pods: 0 })).toMatchObject({ kind: 'released', lease: null });
  });

  test('where_renting_is_off_no_lease_turns_it_on', () => {
    const decision = ask({ pods: 5 }, [], { pools: [{ ...POOL, cap: 0 }] });
    expect(decision).toMatchObject({ kind: 'released' });
    expect(notesOf(decision)).toContain('the operator allows 0 pods');
  });

  test('cards_are_found_by_their_short_names_and_only_ever_narrowed', () => {
    const decision = ask({ pods: 1, cards: ['a40', 'NVIDIA H100'] });
    expect(granted(decision).narrowing?.cards).toEqual(['NVIDIA A40']);
    expect(notesOf(decision)).toContain('NVIDIA H100 is not allowed');
    expect(ask({ pods: 1, cards: ['H100'] })).toMatchObject({ kind: 'refused', param: 'gpu_types' });
  });

  test('a_list_of_cards_for_pods_without_cards_is_not_ignored_without_a_word', () => {
    const decision = ask({ pods: 1, cards: ['a40'] }, [], { pools: [{ ...POOL, hasCards: false }] });
    expect(granted(decision).narrowing).toBeNull();
    expect(notesOf(decision)).toContain('changes nothing');
  });

  test('the_pool_must_be_named_where_there_are_several', () => {
    const pools = [POOL, { ...POOL, name: 'chat' }];
    expect(ask({ pods: 1 }, [], { pools })).toMatchObject({ kind: 'refused', param: 'pool' });
    expect(granted(ask({ pods: 1, pool: 'chat' }, [], { pools })).pool).toBe('chat');
    expect(ask({ pods: 1, pool: 'cat' }, [], { pools })).toMatchObject({ kind: 'refused', param: 'pool' });
  });

  test('a_key_holds_so_many_leases_and_no_more', () => {
    const book = Array.from({ length: LEASES_PER_OWNER }, (_, i) => ({
      ...HELD,
      id: `l${i}`,
      name: `n${i}`,
    }));
    expect(ask({ pods: 1 }, book).kind).toBe('too-many');
    expect(ask({ pods: 1, owner: 'bob' }, book).kind).toBe('granted');
    expect(ask({ pods: 1, name: 'n3' }, book).kind).toBe('granted');
    expect(ask({ pods: 1 }, book, { nowMs: T0 + 600_000 }).kind).toBe('granted');
  });
});

describe('R-053, R-054: renewing a lease', () => {
  test('a_second_call_of_the_same_key_stages_the_same_lease_up_and_down', () => {
    const up = granted(ask({ pods: 9, ttlMs: 60_000 }, [HELD], { nowMs: T0 + 1_000 }));
    expect(up).toMatchObject({ id: 'l1', floor: { pods: 9, expiresAtMs: T0 + 61_000 } });
    expect(granted(ask({ pods: 2 }, [up])).floor?.pods).toBe(2);
  });

  test('what_is_not_said_stays_with_its_own_time', () => {
    const capped = granted(ask({ cap: 9, ttlMs: 60_000 }, [HELD]));
    expect(capped.floor).toEqual({ pods: 8, expiresAtMs: T0 + 600_000 });
    expect(capped.narrowing).toMatchObject({ cap: 9, expiresAtMs: T0 + 60_000 });
    expect(liveLease(capped, T0 + 60_000)?.narrowing).toBeNull();
  });

  test('by_its_id_alone_both_halves_are_renewed', () => {
    const capped = granted(ask({ cap: 9 }, [HELD]));
    const renewed = granted(ask({ lease: 'l1', ttlMs: 1_000_000 }, [capped], { nowMs: T0 + 5 }));
    expect(renewed.floor).toEqual({ pods: 8, expiresAtMs: T0 + 1_000_005 });
    expect(renewed.narrowing).toMatchObject({ cap: 9, expiresAtMs: T0 + 1_000_005 });
  });

  test('a_lease_belongs_to_its_key_and_an_operator_may_do_all', () => {
    expect(ask({ lease: 'l1', owner: 'bob' }, [HELD])).toEqual({ kind: 'unknown', lease: 'l1' });
    expect(granted(ask({ owner: 'bob', pods: 1 }, [HELD])).id).toBe('new');
    const changed = granted(ask({ lease: 'l1', owner: 'op', isOperator: true, pods: 1 }, [HELD]));
    expect(changed).toMatchObject({ owner: 'alice', floor: { pods: 1 } });
  });

  test('one_that_is_over_is_unknown', () => {
    expect(ask({ lease: 'l1' }, [HELD], { nowMs: T0 + 600_000 }).kind).toBe('unknown');
  });

  test('a_call_that_asks_for_nothing_and_renews_nothing_is_refused', () => {
    expect(ask({ ttlMs: 5 })).toMatchObject({ kind: 'refused', param: 'pods' });
  });

  test('null_lifts_the_cap_and_the_cards', () => {
    const narrow = granted(ask({ cap: 4, cards: ['L4'] }, [HELD]));
    expect(granted(ask({ cap: null }, [narrow])).narrowing).toMatchObject({
      cap: null,
      cards: ['NVIDIA L4'],
    });
    expect(granted(ask({ cap: null, cards: null }, [narrow])).narrowing).toBeNull();
  });
});

describe('L2: whatever clients ask', () => {
  const request = fc.record(
    {
      owner: fc.constantFrom('alice', 'bob'),
      name: fc.constantFrom('', 'n'),
      pods: fc.nat(40),
      cap: fc.option(fc.nat(40)),
      cards: fc.option(fc.subarray(['a40', 'L4', 'H100'], { minLength: 1 })),
      ttlMs: fc.integer({ min: 1, max: 100 }),
    },
    { requiredKeys: ['owner'] },
  );

  test('no_cap_is_raised_no_card_added_and_the_floor_stays_below_the_cap', () => {
    const offer = (card: string): Offer => ({
      ...{ card, cloud: 'secure', spot: false, memoryGb: 48, priceUsdPerHour: 1, stock: 'high' },
    });
    const offers = {
      atMs: T0,
      source: 'rest',
      offers: ['A40', 'L4', 'H100'].map((c) => offer(`NVIDIA ${c}`)),
    } as const;
    fc.assert(
      fc.property(fc.array(request, { maxLength: 8 }), fc.nat(12), (requests, maxPods) => {
        let book: ClientLease[] = [];
        let nowMs = T0;
        for (const [n, one] of requests.entries()) {
          nowMs += 20;
          const decision = ask(one, book, { nowMs, newId: `l${n}`, pools: [{ ...POOL, cap: maxPods }] });
          if (decision.kind === 'granted' || decision.kind === 'released')
            book = book.filter(({ id }) => id !== decision.lease?.id);
          if (decision.kind === 'granted') book.push(decision.lease);
        }
        const cards = [
          { card: 'NVIDIA A40', maxUsdPerHour: null },
          { card: 'NVIDIA L4', maxUsdPerHour: null },
        ];
        const policy = { cards, minMemoryGb: 0, clouds: ['secure' as const], spot: 'never' as const };
        const pool = settings({ maxPods, policy });
        const seen = world({ nowMs, offers, leases: leasesOfWorld(book, nowMs), pools: [pool] });
        const cap = caps(seen).pools.get('ocr');
        expect(cap?.effective).toBeLessThanOrEqual(maxPods);
        expect(cap?.floor).toBeLessThanOrEqual(cap?.effective ?? 0);
        const allowed = cards.map(({ card }) => card);
        for (const { card } of chooseOffers(pool, seen).ranked) expect(allowed).toContain(card);
      }),
    );
  });
});

describe('R-051: who pays', () => {
  test('the_lease_with_the_largest_floor_for_as_many_of_the_oldest_pods', () => {
    const pods = ['a', 'b', 'c'].map((key, i) => serving(key, { createdAtMs: T0 + i }));
    const book = [
      { ...HELD, floor: { pods: 1, expiresAtMs: T0 + 9 } },
      { ...HELD, id: 'l2', owner: 'bob', floor: { pods: 2, expiresAtMs: T0 + 5 } },
    ];
    const paid = (nowMs: number) => pods.map((pod) => payersOf(book, registry(...pods), nowMs)(pod).lease);
    expect(paid(T0)).toEqual(['l2', 'l2', '']);
    expect(paid(T0 + 5)).toEqual(['l1', '', '']);
    expect(paid(T0 + 9)).toEqual(['', '', '']);
  });
});
