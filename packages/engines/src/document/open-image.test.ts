import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { openDocument } from './open-document.ts';
import { makeTiff } from './tiff-fixture.ts';

const LIMITS = { maxPages: 10, maxPixels: 1_000_000 };

const grey = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#808080' } });

describe('opening pictures (contract 5.5)', () => {
  test.each(['png', 'jpeg', 'webp', 'tiff'] as const)('a_single_%s_is_its_own_page', async (kind) => {
    const bytes = await grey(20, 10).toFormat(kind).toBuffer();
    const document = await openDocument(bytes, LIMITS);
    expect(document).toMatchObject({ kind, pageCount: 1 });
    expect(await document.page(0)).toEqual({ bytes, kind });
  });

  test('each_page_of_a_tiff_comes_as_a_png_of_its_own', async () => {
    const document = await openDocument(
      makeTiff({ pages: [{ grey: 0 }, { grey: 120 }, { grey: 255 }] }),
      LIMITS,
    );
    expect(document.pageCount).toBe(3);
    const levels = [];
    for (const index of [2, 0, 1]) {
      const page = await document.page(index);
      expect(page.kind).toBe('png');
      levels.push((await sharp(page.bytes).raw().toBuffer())[0]);
    }
    expect(levels).toEqual([255, 0, 120]);
  });

  test('page_7_of_3_is_out_of_range', async () => {
    const document = await openDocument(makeTiff({ pages: [{ grey: 0 }, { grey: 1 }, { grey: 2 }] }), LIMITS);
    await expect(document.page(6)).rejects.toMatchObject({ code: 'page_out_of_range' });
  });

  test('a_damaged_page_of_a_tiff_is_named_and_the_others_still_come', async () => {
    const bytes = makeTiff({ pages: [{ grey: 0 }, { grey: 120, stripAt: 0xffffff }, { grey: 255 }] });
    const document = await openDocument(bytes, LIMITS);
    await expect(document.page(1)).rejects.toMatchObject({ code: 'page_unreadable', message: /page 2/ });
    expect((await document.page(2)).kind).toBe('png');
  });

  test('directories_that_lead_back_to_the_first_end', async () => {
    const document = await openDocument(
      makeTiff({ pages: [{ grey: 0 }, { grey: 120 }], loop: true }),
      LIMITS,
    );
    expect(document.pageCount).toBeLessThanOrEqual(LIMITS.maxPages);
    expect((await document.page(0)).kind).toBe('png');
  });

  test('a_tiff_that_is_cut_off_is_told_as_damaged', async () => {
    const bytes = makeTiff({ pages: [{ grey: 0 }] });
    await expect(openDocument(bytes.subarray(0, 16), LIMITS)).rejects.toMatchObject({
      code: 'document_damaged',
    });
  });

  test('a_decompression_bomb_is_refused_from_its_header', async () => {
    const bomb = await sharp({ create: { width: 3000, height: 2000, channels: 3, background: 'white' } })
      .png()
      .toBuffer();
    await expect(openDocument(bomb, LIMITS)).rejects.toMatchObject({ code: 'page_too_large' });
    const claims = makeTiff({ pages: [{ grey: 0, width: 200_000, height: 200_000 }] });
    await expect(openDocument(claims, LIMITS)).rejects.toMatchObject({ code: 'page_too_large' });
  });

  test('one_huge_page_of_a_tiff_is_refused_alone', async () => {
    const bytes = makeTiff({ pages: [{ grey: 0 }, { grey: 0, width: 200_000, height: 200_000 }] });
    const document = await openDocument(bytes, LIMITS);
    await expect(document.page(1)).rejects.toMatchObject({ code: 'page_too_large' });
    expect((await document.page(0)).kind).toBe('png');
  });

  test('a_tiff_with_more_pages_than_the_limit_is_refused', async () => {
    const bytes = makeTiff({ pages: Array.from({ length: 11 }, () => ({ grey: 0 })) });
    await expect(openDocument(bytes, LIMITS)).rejects.toMatchObject({ code: 'document_too_many_pages' });
  });
});
