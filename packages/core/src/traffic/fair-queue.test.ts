import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

interface Page {
  readonly key: string;
  readonly document: string;
  readonly enqueuedAtMs: number;
  readonly page: number;
}

function fill(queue: FairQueue<Page>, key: string, document: string, pages: number): void {
  for (let page = 1; page <= pages; page += 1) queue.push({ key, document, page, enqueuedAtMs: page });
}

function drain(queue: FairQueue<Page>): Page[] {
  const out: Page[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) out.push(item);
  return out;
}

const names = (pages: readonly Page[]): string => pages.map((p) => `${p.document}${p.page}`).join(' ');

describe('fair queue (DESIGN 7.4, L11)', () => {
  test('keys_take_turns_whatever_they_have_waiting', () => {
    const queue = new FairQueue<Page>(100);
    fill(queue, 'big', 'a', 4);
    fill(queue, 'big', 'b', 4);
    fill(queue, 'small', 'c', 2);
    expect(names(drain(queue))).toBe('a1 c1 b1 c2 a2 b2 a3 b3 a4 b4');
  });

  test('any_order_of_pushes_keeps_the_bound_the_page_order_and_every_page_once', () => {
    const push = fc.record({ key: fc.constantFrom('k', 'l', 'm'), document: fc.constantFrom('a', 'b', 'c') });
    const step = fc.oneof(
      { weight: 3, arbitrary: push },
      { weight: 1, arbitrary: fc.constant('shift' as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new FairQueue<Page>(20);
        const out: Page[] = [];
        let pushed = 0;
        for (const [page, what] of steps.entries()) {
          if (what === 'shift') {
            const item = queue.shift();
            if (item) out.push(item);
            continue;
          }
          const accepted = queue.push({ ...what, page, enqueuedAtMs: page });
          expect(accepted).toBe(pushed - out.length < 20);
          if (accepted) pushed += 1;
          expect(queue.size).toBe(pushed - out.length);
        }
        out.push(...drain(queue));
        expect(new Set(out).size).toBe(pushed);
        const lines = Map.groupBy(out, (item) => `${item.key}/${item.document}`);
        for (const line of lines.values()) {
          expect(line.map((i) => i.page)).toEqual(line.map((i) => i.page).toSorted((a, b) => a - b));
        }
      }),
    );
  });

  test('no_key_that_waits_is_passed_over_for_more_than_one_round', () => {
    const pages = fc.array(fc.tuple(fc.constantFrom('k', 'l', 'm'), fc.constantFrom('a', 'b')), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(pages, (all) => {
        const queue = new FairQueue<Page>(100);
        for (const [page, [key, document]] of all.entries())
          queue.push({ key, document, page, enqueuedAtMs: 0 });
        const left = new Map<string, number>();
        for (const [key] of all) left.set(key, (left.get(key) ?? 0) + 1);
        for (let round = queue.size; round > 0; round -= left.size) {
          const served = Array.from({ length: left.size }, () => queue.shift()?.key ?? 'none');
          expect(new Set(served)).toEqual(new Set(left.keys()));
          for (const key of served) left.set(key, (left.get(key) ?? 0) - 1);
          for (const [key, count] of left) if (count === 0) left.delete(key);
          if (left.size === 0) break;
        }
        expect(queue.size).toBe(0);
      }),
    );
  });

  test('a_page_that_lost_its_pod_comes_next_of_its_document_even_when_the_queue_is_full', () => {
    const queue = new FairQueue<Page>(3);
    fill(queue, 'k', 'a', 3);
    const first = queue.shift();
    fill(queue, 'k', 'b', 1);
    expect(queue.push({ key: 'k', document: 'a', page: 9, enqueuedAtMs: 9 })).toBe(false);
    if (first) queue.putBack(first);
    expect(queue.size).toBe(4);
    expect(queue.oldestWaitMs(11)).toBe(10);
    expect(names(drain(queue))).toBe('a1 b1 a2 a3');
  });

  test('a_document_that_is_given_up_leaves_at_once_and_nobody_else_notices', () => {
    const queue = new FairQueue<Page>(100);
    fill(queue, 'k', 'a', 3);
    fill(queue, 'l', 'a', 2);
    expect(names(queue.removeDocument('k', 'a'))).toBe('a1 a2 a3');
    expect(queue.removeDocument('k', 'a')).toEqual([]);
    expect(queue.sizeOfDocument('l', 'a')).toBe(2);
    expect(drain(queue)).toHaveLength(2);
    expect(queue.oldestWaitMs(5)).toBe(0);
  });

  test('the_same_page_waits_once_and_leaves_once', () => {
    const queue = new FairQueue<Page>(2);
    const page = { key: 'k', document: 'a', page: 1, enqueuedAtMs: 0 };
    queue.push(page);
    expect(queue.push(page)).toBe(true);
    queue.putBack(page);
    expect(queue.size).toBe(1);
    expect([queue.remove(page), queue.remove(page)]).toEqual([true, false]);
  });

  test('a_full_queue_of_8192_pages_of_as_many_keys_costs_the_same_per_page_as_a_small_one', () => {
    const spend = (count: number): number => {
      const queue = new FairQueue<Page>(count);
      for (let page = 0; page < count; page += 1) {
        queue.push({ key: `k${page}`, document: 'a', page, enqueuedAtMs: 0 });
      }
      // CPU, not wall time: other programs of the machine must not make it red
      const start = process.cpuUsage();
      for (let turn = 0; turn < 20_000; turn += 1) {
        const item = queue.shift();
        if (item) queue.push({ ...item });
      }
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    spend(64);
    // an O(n) operation would make this about 128 times as much
    expect(spend(8_192)).toBeLessThan(20 * spend(64) + 50);
  });
});
