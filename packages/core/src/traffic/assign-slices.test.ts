import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AssignPod, type AssignWorker, assignSlices, type Widths } from './assign-slices.ts';

type Slices = ReturnType<typeof assignSlices>;

const pod = (id: string, width: number): AssignPod => ({ id, pool: 'ocr', width });
const pods = fc
  .array(fc.nat(6), { minLength: 1, maxLength: 6 })
  .map((widths) => widths.map((w, i) => pod(`p${i}`, w)));

interface Wish {
  readonly waiting?: number;
  readonly inflight?: Widths;
  readonly oldestWaitMs?: number;
  readonly takesNew?: boolean;
  readonly current?: Widths;
}

function worker(bootId: string, wish: Wish = {}): AssignWorker {
  const inflight = wish.inflight ?? new Map();
  const running = [...inflight.values()].reduce((sum, n) => sum + n, 0);
  const demand = { inflight: running, waiting: wish.waiting ?? 0, oldestWaitMs: wish.oldestWaitMs ?? 0 };
  return {
    bootId,
    takesNew: wish.takesNew ?? true,
    demand: new Map([['ocr', demand]]),
    current: wish.current ?? new Map(),
    inflight,
  };
}

const wishes = fc.array(
  fc.record({ waiting: fc.nat(20), oldestWaitMs: fc.nat(9_000), takesNew: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);
const busy = (count: number, before?: Slices): AssignWorker[] =>
  Array.from({ length: count }, (_, i) =>
    worker(`w${i}`, { waiting: 1_000, current: before?.get(`w${i}`) ?? new Map() }),
  );

const sum = (widths: Iterable<number>): number => [...widths].reduce((a, b) => a + b, 0);
const total = (slices: Slices, bootId: string): number => sum(slices.get(bootId)?.values() ?? []);
const onPod = (slices: Slices, id: string): number => sum([...slices.values()].map((w) => w.get(id) ?? 0));
const capacity = (list: readonly AssignPod[]): number => sum(list.map((p) => p.width));

/** width that workers of `before` have no more, on pods that are still there */
function lost(before: Slices, after: Slices, ids: readonly string[]): number {
  const losses = [...before].flatMap(([bootId, widths]) =>
    ids.map((id) => Math.max(0, (widths.get(id) ?? 0) - (after.get(bootId)?.get(id) ?? 0))),
  );
  return sum(losses);
}

describe('slices of workers (L9)', () => {
  test('no_pod_is_given_out_beyond_its_width_and_all_of_it_is_while_somebody_listens', () => {
    fc.assert(
      fc.property(pods, wishes, (list, wished) => {
        const workers = wished.map((wish, i) => worker(`w${i}`, wish));
        const slices = assignSlices(list, workers);
        for (const { id, width } of list) expect(onPod(slices, id)).toBeLessThanOrEqual(width);
        if (!wished.some((wish) => wish.takesNew)) return;
        for (const { id, width } of list) expect(onPod(slices, id)).toBe(width);
      }),
    );
  });

  test('totals_differ_by_at_most_one_slot_when_all_have_work', () => {
    fc.assert(
      fc.property(pods, fc.integer({ min: 1, max: 6 }), (list, count) => {
        const slices = assignSlices(list, busy(count));
        const totals = [...slices.keys()].map((id) => total(slices, id));
        expect(Math.max(...totals) - Math.min(...totals)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('everybody_gets_its_demand_or_its_share_and_nobody_waits_beside_idle_width', () => {
    fc.assert(
      fc.property(pods, wishes, (list, wished) => {
        const slices = assignSlices(
          list,
          wished.map((wish, i) => worker(`w${i}`, wish)),
        );
        const claims = wished.map(({ waiting, takesNew }, i) => ({
          waiting,
          takesNew,
          has: total(slices, `w${i}`),
        }));
        const sharing = claims.filter((c) => c.takesNew || c.waiting > 0).length;
        const share = Math.floor(capacity(list) / Math.max(1, sharing));
        for (const claim of claims) expect(claim.has).toBeGreaterThanOrEqual(Math.min(claim.waiting, share));
        if (claims.some((c) => c.has < c.waiting)) {
          for (const claim of claims) expect(claim.has).toBeLessThanOrEqual(claim.waiting);
        }
        for (const claim of claims) if (!claim.takesNew) expect(claim.has).toBeLessThanOrEqual(claim.waiting);
      }),
    );
  });

  test('assigning_again_changes_nothing', () => {
    const lent = [6, 0, 7, 4, 1].map((waiting, i) => ({
      waiting,
      oldestWaitMs: i === 2 || i === 3 ? 1 : 0,
      takesNew: i === 1,
    }));
    fc.assert(
      fc.property(pods, wishes, (list, wished) => {
        const once = assignSlices(
          list,
          wished.map((wish, i) => worker(`w${i}`, wish)),
        );
        const again = wished.map((wish, i) =>
          worker(`w${i}`, { ...wish, current: once.get(`w${i}`) ?? new Map() }),
        );
        expect(assignSlices(list, again)).toEqual(once);
        expect(assignSlices(list.toReversed(), again.toReversed())).toEqual(once);
      }),
      // The odd slot once followed width that had been lent.
      { numRuns: 1_000, examples: [[[pod('p0', 6), pod('p1', 6), pod('p2', 5)], lent]] },
    );
  });

  test('a_new_pod_or_a_lost_worker_takes_nothing_from_anybody', () => {
    fc.assert(
      fc.property(pods, fc.integer({ min: 2, max: 6 }), fc.nat(6), (list, count, width) => {
        const before = assignSlices(list, busy(count));
        const ids = list.map((p) => p.id);
        expect(lost(before, assignSlices([...list, pod('new', width)], busy(count, before)), ids)).toBe(0);
        const fewer = assignSlices(list, busy(count - 1, before));
        before.delete(`w${count - 1}`);
        expect(lost(before, fewer, ids)).toBe(0);
      }),
    );
  });

  test('a_lost_pod_or_a_new_worker_moves_no_more_width_than_the_new_totals_need', () => {
    fc.assert(
      fc.property(pods, fc.integer({ min: 1, max: 5 }), (list, count) => {
        const before = assignSlices(list, busy(count));
        for (const [left, workers] of [
          [list.slice(1), count],
          [list, count + 1],
        ] as const) {
          const after = assignSlices(left, busy(workers, before));
          const ids = left.map((p) => p.id);
          const kept = (widths: Widths): number => sum(ids.map((id) => widths.get(id) ?? 0));
          const needed = sum([...before].map(([id, widths]) => Math.max(0, kept(widths) - total(after, id))));
          expect(lost(before, after, ids)).toBe(needed);
        }
      }),
    );
  });

  test('idle_width_is_lent_to_the_one_that_waits_longest_first', () => {
    const workers = [
      worker('idle'),
      worker('short', { waiting: 9, oldestWaitMs: 100 }),
      worker('long', { waiting: 9, oldestWaitMs: 200 }),
    ];
    const slices = assignSlices([pod('p', 7)], workers);
    expect(['idle', 'short', 'long'].map((id) => total(slices, id))).toEqual([0, 3, 4]);
  });

  test('idle_width_is_given_up_before_width_with_pages_on_it', () => {
    const lender = worker('a', {
      inflight: new Map([['p1', 2]]),
      current: new Map([
        ['p1', 2],
        ['p2', 2],
      ]),
    });
    const slices = assignSlices([pod('p1', 2), pod('p2', 2)], [lender, worker('b', { waiting: 9 })]);
    expect(slices.get('a')).toEqual(new Map([['p1', 2]]));
    expect(slices.get('b')).toEqual(new Map([['p2', 2]]));
  });

  test('pages_that_run_on_width_given_up_need_no_other_width_meanwhile', () => {
    const list = [pod('p1', 1), pod('p2', 1), pod('p3', 1)];
    const inflight = new Map([['p1', 1]]);
    const leaving = worker('a', { takesNew: false, inflight, current: new Map([['p2', 1]]) });
    const slices = assignSlices(list, [leaving, worker('b', { waiting: 2, current: new Map([['p3', 1]]) })]);
    expect(slices.get('a')).toEqual(new Map());
    expect(slices.get('b')).toEqual(new Map(['p3', 'p2'].map((id) => [id, 1])));
  });

  test('an_odd_slot_stays_where_it_is_with_work_and_without', () => {
    for (const waiting of [0, 9]) {
      const workers = [
        worker('a', { waiting, current: new Map([['p', 1]]) }),
        worker('b', { waiting, current: new Map([['p', 2]]) }),
      ];
      expect(assignSlices([pod('p', 3)], workers).get('b')).toEqual(new Map([['p', 2]]));
    }
  });

  test('a_worker_grows_on_the_pods_it_has_before_it_takes_others', () => {
    const grown = worker('a', { waiting: 2, takesNew: false, current: new Map([['p2', 1]]) });
    expect(assignSlices([pod('p1', 4), pod('p2', 2)], [grown]).get('a')).toEqual(new Map([['p2', 2]]));
  });

  test('a_missing_width_is_taken_where_it_can_be_granted_at_once', () => {
    const list = [
      { ...pod('p1', 2), room: 0 },
      { ...pod('p2', 2), room: 2 },
    ];
    const waiting = worker('b', { waiting: 1, takesNew: false });
    expect(assignSlices(list, [waiting]).get('b')).toEqual(new Map([['p2', 1]]));
  });

  test('one_slot_goes_round_among_three_that_wait_one_page_each', () => {
    const turns: string[] = [];
    let current = new Map<string, Widths>();
    for (let turn = 0; turn < 6; turn += 1) {
      const running = turns.at(-1);
      const workers = ['a', 'b', 'c'].map((id, i) =>
        worker(id, {
          waiting: 5,
          // who has just had a page waits from now on
          oldestWaitMs: 1_000 * (turn - turns.lastIndexOf(id)) + i,
          inflight: new Map(running === id ? [['p', 1]] : []),
          current: current.get(id) ?? new Map(),
        }),
      );
      current = assignSlices([pod('p', 1)], workers);
      const holder = [...current].find(([, widths]) => widths.size > 0);
      turns.push(holder?.[0] ?? 'nobody');
    }
    expect(new Set(turns.slice(0, 3))).toEqual(new Set(['a', 'b', 'c']));
    expect(turns.slice(3)).toEqual(turns.slice(0, 3));
  });

  test('the_holder_of_the_only_slot_keeps_it_until_a_page_runs_in_it_and_then_passes_it_on', () => {
    const held = new Map([['p', 1]]);
    const other = worker('b', { waiting: 5, oldestWaitMs: 9_000 });
    const fresh = worker('a', { waiting: 5, current: held });
    expect(assignSlices([pod('p', 1)], [fresh, other]).get('a')).toEqual(held);
    const used = worker('a', { waiting: 5, current: held, inflight: held });
    const slices = assignSlices([pod('p', 1)], [used, other]);
    expect([slices.get('a'), slices.get('b')]).toEqual([new Map(), held]);
  });

  test('pools_are_assigned_each_by_its_own_demand', () => {
    const list = [pod('p1', 4), { ...pod('q1', 4), pool: 'chat' }];
    const reader = worker('a', { waiting: 9 });
    const chatty: AssignWorker = {
      ...worker('b'),
      demand: new Map([['chat', { inflight: 0, waiting: 9, oldestWaitMs: 0 }]]),
    };
    const slices = assignSlices(list, [reader, chatty]);
    expect(slices.get('a')).toEqual(new Map([['p1', 4]]));
    expect(slices.get('b')).toEqual(new Map([['q1', 4]]));
  });

  test('128_pods_of_64_among_16_workers_take_milliseconds', () => {
    const list = Array.from({ length: 128 }, (_, i) => pod(`p${i}`, 64));
    let slices = assignSlices(list, busy(16));
    const runs = Array.from({ length: 5 }, () => {
      const startMs = performance.now();
      slices = assignSlices(list, busy(16, slices));
      return performance.now() - startMs;
    });
    expect(total(slices, 'w0')).toBe(512);
    expect(slices.get('w0')?.size).toBe(8);
    expect(Math.min(...runs)).toBeLessThan(50);
  });
});
