import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Slot, SlotBook } from './slots.ts';

const width = 3;

/** one step of a worker's life with a pod; `page` picks among the slots taken so far */
const step = fc.record({
  kind: fc.constantFrom('take', 'release', 'release_twice', 'sweep', 'pass_time'),
  pod: fc.constantFrom('a', 'b'),
  page: fc.nat(20),
});

describe('slots (R-015, R-020, L10)', () => {
  test('a_pod_never_has_more_slots_than_its_width_and_none_is_left_when_all_pages_are_over', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const book = new SlotBook();
        const taken: Slot[] = [];
        let nowMs = 0;
        for (const { kind, pod, page } of steps) {
          const slot = taken[page % Math.max(1, taken.length)];
          nowMs += kind === 'pass_time' ? 400 : 1;
          if (kind === 'take') {
            const got = book.takeSlot({ podId: pod, pageId: `p${nowMs}`, width, nowMs });
            if (got) taken.push(got);
          }
          if (kind.startsWith('release') && slot) {
            book.releaseSlot(slot);
            if (kind === 'release_twice') expect(book.releaseSlot(slot)).toBe(false);
          }
          if (kind === 'sweep') book.sweepSlots(nowMs, 900);
          expect(book.inflight('a')).toBeLessThanOrEqual(width);
          expect(book.inflight('a') + book.inflight('b')).toBe(book.total);
        }
        for (const slot of taken) book.releaseSlot(slot);
        expect(book.total).toBe(0);
        expect([...book.podIds()]).toEqual([]);
      }),
    );
  });

  test('a_slot_is_refused_at_the_width_in_force_and_granted_again_after_a_release', () => {
    const book = new SlotBook();
    const request = { podId: 'a', pageId: 'p', width: 1, nowMs: 0 };
    const slot = book.takeSlot(request);
    expect(book.takeSlot(request)).toBeUndefined();
    expect(slot && book.releaseSlot(slot)).toBe(true);
    expect(book.takeSlot(request)).toBeDefined();
  });

  test('a_shrunk_width_takes_nothing_away_but_gives_nothing_new', () => {
    const book = new SlotBook();
    for (const pageId of ['1', '2', '3']) book.takeSlot({ podId: 'a', pageId, width: 3, nowMs: 0 });
    expect(book.takeSlot({ podId: 'a', pageId: '4', width: 1, nowMs: 1 })).toBeUndefined();
    expect(book.inflight('a')).toBe(3);
  });

  test('the_sweep_returns_only_slots_above_the_age_limit_and_a_late_release_changes_nothing', () => {
    const book = new SlotBook();
    const old = book.takeSlot({ podId: 'a', pageId: 'old', width, nowMs: 0 });
    book.takeSlot({ podId: 'a', pageId: 'young', width, nowMs: 500 });
    expect(book.sweepSlots(900, 900)).toEqual([]);
    expect(book.oldestSlotMs('a', 901)).toBe(901);
    expect(book.sweepSlots(901, 900)).toEqual([old]);
    expect(old && book.releaseSlot(old)).toBe(false);
    expect(book.inflight('a')).toBe(1);
    expect(book.oldestSlotMs('a', 901)).toBe(401);
  });
});
