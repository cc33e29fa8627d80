import { afterEach, describe, expect, test } from 'vitest';
import type { Picture } from '../document/draw-picture.ts';
import { extraObjectNumber, makePdf } from '../document/make-pdf.ts';
import { createDrawThreads, createRenderPool, type RenderPool } from './render-pool.ts';

const SIGNAL = new AbortController().signal;
const PLAIN = makePdf({ pages: 1 });

let pool: RenderPool | null = null;
afterEach(() => pool?.close());

const LARGE = makePdf({ pages: 1, page: '/MediaBox [0 0 3000 3000]' });

/** Forms that draw the next one ten times, five deep, each on a picture of its own. */
const ENDLESS = (() => {
  const depth = 5;
  const own = extraObjectNumber(1, 0);
  const form = (level: number) => {
    const isLast = level === depth - 1;
    const content = isLast ? '0 0 m 900 900 l S 10 10 800 800 re f' : '/X Do '.repeat(10);
    const next = isLast ? '' : `/Resources << /XObject << /X ${own + level + 1} 0 R >> >>`;
    const group = '/Group << /S /Transparency /I true >>';
    return `<< /Type /XObject /Subtype /Form /BBox [0 0 1000 1000] ${group} ${next} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  };
  return makePdf({
    pages: 1,
    page: `/MediaBox [0 0 1000 1000] /Resources << /XObject << /X ${own} 0 R >> >>`,
    content: '/X Do',
    extra: Array.from({ length: depth }, (_, level) => form(level)),
  });
})();

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

  test('a_page_that_takes_too_much_of_a_core_ends_its_thread_and_waiting_is_no_drawing', {
    timeout: 30_000,
  }, async () => {
    const threads = createDrawThreads(1, 2_000);
    const draw = (bytes: Uint8Array) =>
      threads.run<Picture>(
        { bytes: Buffer.from(bytes), settings: { dpi: 72, maxPixels: 1_000_000 } },
        SIGNAL,
      );
    try {
      const endless = draw(ENDLESS);
      const plain = draw(PLAIN);
      await expect(endless).rejects.toMatchObject({
        code: 'page_unreadable',
        message: expect.stringContaining('more than 2 s of a core to draw'),
      });
      expect((await plain).width).toBe(200);
    } finally {
      await threads.close();
    }
  });

  test('a_page_inside_a_larger_buffer_travels_alone', async () => {
    pool = createRenderPool(1, { dpi: 72, maxPixels: 1_000_000 });
    const around = Buffer.concat([Buffer.alloc(100), PLAIN, Buffer.alloc(100)]);
    const inside = around.subarray(100, 100 + PLAIN.length);
    expect((await pool.draw(inside, SIGNAL)).height).toBe(100);
  });
});
