import { PageResult } from '@pagefleet/contract';
import sharp from 'sharp';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { makePdf } from '../document/make-pdf.ts';
import { openDocument } from '../document/open-document.ts';
import type { PageInput } from '../port.ts';
import { createSleepEngine } from './sleep-engine.ts';

const page = (bytes: Uint8Array, signal = new AbortController().signal): PageInput => ({
  bytes,
  kind: 'png',
  options: {},
  signal,
});

async function started(sleepMs: number, jitterMs = 0) {
  const engine = createSleepEngine({ kind: 'sleep', width: 4, sleepMs, jitterMs });
  await engine.start();
  return engine;
}

describe('engine: sleep (issue 2, an honest second engine)', () => {
  test('every_answer_says_that_it_is_simulated', async () => {
    const engine = await started(1);
    const result = await engine.read(page(Buffer.from('a page')));
    expect(result).toMatchObject({ engine: 'sleep', confidence: null });
    expect(result.text).toBe('engine: sleep; this text is simulated; nothing was read');
    expect(Value.Check(PageResult, result)).toBe(true);
  });

  test('a_page_is_held_for_the_set_time_and_a_jitter_that_is_its_own', async () => {
    const engine = await started(40, 60);
    const first = (await engine.read(page(Buffer.from('one')))).engineMs;
    const again = (await engine.read(page(Buffer.from('one')))).engineMs;
    expect(first).toBeGreaterThanOrEqual(39);
    expect(Math.abs(first - again)).toBeLessThan(30);
  });

  test('an_empty_page_is_unreadable_even_here', async () => {
    await expect((await started(1)).read(page(Buffer.alloc(0)))).rejects.toMatchObject({
      code: 'page_unreadable',
    });
  });

  test('an_abort_ends_the_sleep_at_once', async () => {
    const engine = await started(60_000);
    const abort = new AbortController();
    const reading = engine.read(page(Buffer.from('x'), abort.signal));
    setTimeout(() => abort.abort(), 10);
    await expect(reading).rejects.toMatchObject({ code: 'client_gone' });
  });

  test.each([
    ['#pagefleet-refuse#', 'engine_failed'],
    ['#pagefleet-page-fault#', 'page_unreadable'],
  ])('%s_ends_as_%s', async (mark, code) => {
    await expect((await started(1)).read(page(Buffer.from(`..${mark}..`)))).rejects.toMatchObject({ code });
  });

  test('a_mark_in_the_page_dictionary_survives_the_split_of_a_pdf', async () => {
    const bytes = makePdf({ pages: 2, page: '/MediaBox [0 0 9 9] /Mark (#pagefleet-sleep:120#)' });
    const document = await openDocument(bytes, { maxPages: 9, maxPixels: 1_000_000 });
    const engine = await started(1);
    expect((await engine.read(page((await document.page(1)).bytes))).engineMs).toBeGreaterThanOrEqual(119);
    document.close();
  });

  test('a_mark_in_the_description_of_a_picture_counts', async () => {
    const png = sharp({ create: { width: 2, height: 2, channels: 3, background: 'white' } });
    const bytes = await png
      .withExif({ IFD0: { ImageDescription: '#pagefleet-refuse#' } })
      .png()
      .toBuffer();
    const engine = await started(1);
    const readable = await engine.read(page(bytes)).then(
      () => 'read',
      (error: { code: string }) => error.code,
    );
    expect(readable).toBe('engine_failed');
  });
});
