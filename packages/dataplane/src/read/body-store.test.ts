import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBodyStore } from './body-store.ts';
import { createByteBudget } from './byte-budget.ts';
import { readAll, readHead } from './held-bytes.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pagefleet-spool-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function storeOf(memory: number, spool: number) {
  const budget = createByteBudget({ memory, spool });
  return { budget, store: createBodyStore({ budget, spoolDir: folder, bootId: 'b' }) };
}

describe('bodies in memory, then on disk (R-014)', () => {
  test('a_body_that_fits_memory_stays_there', async () => {
    const { store, budget } = storeOf(100, 100);
    const held = await store.hold(Buffer.from('hello'));
    expect(held.place).toBe('memory');
    expect(budget.held('memory')).toBe(5);
    held.release();
    held.release();
    expect(budget.held('memory')).toBe(0);
  });

  test('a_body_that_outgrows_memory_moves_to_a_private_file_whole', async () => {
    const { store, budget } = storeOf(8, 100);
    const sink = store.sink(50);
    await sink.write(Buffer.from('hello '));
    await sink.write(Buffer.from('world'));
    const held = await sink.finish();
    if (held.place !== 'file') throw new Error('expected a file');
    expect(statSync(held.path).mode & 0o777).toBe(0o600);
    expect(readFileSync(held.path, 'utf8')).toBe('hello world');
    expect(Buffer.from(await readHead(held)).toString()).toBe('hello world');
    expect([budget.held('memory'), budget.held('spool')]).toEqual([0, 11]);
    held.release();
    expect(budget.held('spool')).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('without_a_spool_memory_is_used_to_its_end_and_no_further', async () => {
    const { store, budget } = storeOf(8_000_000, 0);
    const held = await store.hold(Buffer.alloc(6_000_000));
    expect(held.place).toBe('memory');
    await expect(store.hold(Buffer.alloc(3_000_000))).rejects.toMatchObject({ code: 'spool_full' });
    held.release();
    expect(budget.held('memory')).toBe(0);
  });

  test('any_mix_of_bodies_finished_or_abandoned_gives_every_byte_and_file_back', async () => {
    const body = fc.record({
      chunks: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }),
      end: fc.constantFrom('finish', 'abandon', 'abandon_early'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(120),
        fc.nat(200),
        fc.array(body, { maxLength: 6 }),
        async (memory, spool, bodies) => {
          const { store, budget } = storeOf(memory, spool);
          await Promise.all(
            bodies.map(async ({ chunks, end }, n) => {
              const sink = store.sink(150);
              const whole = Buffer.concat(chunks.map((size) => Buffer.alloc(size, 65 + n)));
              const writing = (async () => {
                for (const size of chunks) await sink.write(Buffer.alloc(size, 65 + n));
                return sink.finish();
              })();
              if (end === 'abandon_early') sink.abandon();
              const held = await writing.catch(() => null);
              if (held && end !== 'abandon_early') expect(Buffer.compare(await readAll(held), whole)).toBe(0);
              sink.abandon();
              held?.release();
              expect(budget.held('memory')).toBeLessThanOrEqual(memory);
              expect(budget.held('spool')).toBeLessThanOrEqual(spool);
            }),
          );
          await expect.poll(() => readdirSync(folder), { interval: 2 }).toEqual([]);
          expect([budget.held('memory'), budget.held('spool')]).toEqual([0, 0]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
