import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createChunkList } from './chunk-list.ts';

describe('chunks in memory (R-014)', () => {
  test('single_bytes_are_kept_together', () => {
    const list = createChunkList();
    for (let n = 0; n < 100_000; n += 1) list.add(Buffer.from([n % 256]));
    expect(list.take().length).toBeLessThanOrEqual(2);
  });

  test('whatever_their_sizes_the_bytes_come_back_in_order_and_once', () => {
    const sizes = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 10_000, max: 70_000 })),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(sizes, (all) => {
        const list = createChunkList();
        const given = all.map((size, n) => Buffer.alloc(size, n + 1));
        for (const chunk of given) list.add(chunk);
        expect(Buffer.compare(Buffer.concat(list.take()), Buffer.concat(given))).toBe(0);
        expect(list.take()).toEqual([]);
      }),
    );
  });
});
