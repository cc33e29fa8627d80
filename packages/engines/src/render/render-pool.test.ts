import { afterEach, describe, expect, test } from 'vitest';
import { makePdf } from '../document/make-pdf.ts';
import { createRenderPool, type RenderPool } from './render-pool.ts';

const SIGNAL = new AbortController().signal;
const PLAIN = makePdf({ pages: 1 });

let pool: RenderPool | null = null;
afterEach(() => pool?.close());

const LARGE = makePdf({ pages: 1, page: '/MediaBox [0 0 3000 3000]' });

describe('drawing happens in threads of its own (R-018)', () => {
  test('pages_are_drawn_and_the_event_loop_turns_meanwhile', async () => {
    pool = createRenderPool(2, { dpi: 72, maxPixels: 40_000_000 });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const pictures = await Promise.all([pool.draw(LARGE, SIGNAL), pool.draw(PLAIN, SIGNAL)]);
    clearInterval(timer);
    expect(pictures.map(({ width }) => width)).toEqual([3000, 200]);
    expect(turns).toBeGreaterThan(20);
  });

  test('a_failure_keeps_its_code_across_the_thread', async () => {
    pool = createRenderPool(1, { dpi: 72, maxPixels: 1_000_000 });
    await expect(pool.draw(Buffer.from('%PDF-'), SIGNAL)).rejects.toMatchObject({
      name: 'PagefleetError',
      code: 'page_unreadable',
    });
  });

  test('an_abort_ends_the_drawing_and_the_next_page_is_drawn', async () => {
    pool = createRenderPool(1, { dpi: 72, maxPixels: 100_000_000 });
    await pool.draw(PLAIN, SIGNAL);
    const abort = new AbortController();
    const drawing = pool.draw(LARGE, abort.signal);
    setTimeout(() => abort.abort(), 20);
    await expect(drawing).rejects.toThrow();
    expect((await pool.draw(PLAIN, SIGNAL)).width).toBe(200);
  });

  test('a_page_inside_a_larger_buffer_travels_alone', async () => {
    pool = createRenderPool(1, { dpi: 72, maxPixels: 1_000_000 });
    const around = Buffer.concat([Buffer.alloc(100), PLAIN, Buffer.alloc(100)]);
    const inside = around.subarray(100, 100 + PLAIN.length);
    expect((await pool.draw(inside, SIGNAL)).height).toBe(100);
  });
});
