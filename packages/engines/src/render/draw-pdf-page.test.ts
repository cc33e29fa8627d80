import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { USER_PASSWORD_PDF } from '../document/encrypted-pdf-fixture.ts';
import { BLACK_QUARTER, extraObjectNumber, makePdf } from '../document/make-pdf.ts';
import { drawPdfPage } from './draw-pdf-page.ts';

const SETTINGS = { dpi: 72, maxPixels: 1_000_000 };

async function greyAt(png: Uint8Array, x: number, y: number): Promise<number | undefined> {
  const { data, info } = await sharp(png).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  expect(await sharp(png).metadata()).toMatchObject({ format: 'png', channels: 1, depth: 'uchar' });
  return data[y * info.width + x];
}

describe('drawing a PDF page (contract 5.2, 5.3)', () => {
  test('a_page_is_drawn_at_the_density_asked_for', async () => {
    const picture = await drawPdfPage(makePdf({ pages: 1, content: BLACK_QUARTER }), {
      ...SETTINGS,
      dpi: 144,
    });
    expect(picture).toMatchObject({ width: 400, height: 200, dpi: 144 });
    expect(await greyAt(picture.png, 10, 190)).toBe(0);
    expect(await greyAt(picture.png, 390, 10)).toBe(255);
  });

  test('a_width_that_pdfium_pads_is_copied_without_the_padding', async () => {
    const odd = makePdf({ pages: 1, page: '/MediaBox [0 0 101 51]', content: '0 g 100 0 1 51 re f' });
    const picture = await drawPdfPage(odd, SETTINGS);
    expect([picture.width, picture.height]).toEqual([101, 51]);
    for (const row of [0, 25, 50]) expect(await greyAt(picture.png, 100, row)).toBe(0);
    expect(await greyAt(picture.png, 0, 25)).toBe(255);
  });

  test.each([
    ['144000_points', '/MediaBox [0 0 144000 144000]'],
    ['a_user_unit_of_100', '/MediaBox [0 0 14400 14400] /UserUnit 100'],
    ['a_strip', '/MediaBox [0 0 144000 1]'],
  ])('%s_are_clamped_before_drawing', async (_, page) => {
    const picture = await drawPdfPage(makePdf({ pages: 1, page, content: BLACK_QUARTER }), {
      ...SETTINGS,
      dpi: 200,
    });
    expect(picture.width * picture.height).toBeLessThanOrEqual(1_003_000);
    expect(Math.max(picture.width, picture.height)).toBeLessThanOrEqual(10_000);
  });

  test.each([
    ['no_media_box', '/Rotate 0'],
    ['an_empty_media_box', '/MediaBox [0 0 0 0]'],
  ])('%s_means_letter_size', async (_, page) => {
    expect(await drawPdfPage(makePdf({ pages: 1, page }), SETTINGS)).toMatchObject({
      width: 612,
      height: 792,
    });
  });

  test('a_turned_page_is_drawn_upright', async () => {
    const turned = makePdf({ pages: 1, page: '/MediaBox [0 0 200 100] /Rotate 90', content: BLACK_QUARTER });
    const picture = await drawPdfPage(turned, SETTINGS);
    expect([picture.width, picture.height]).toEqual([100, 200]);
    expect(await greyAt(picture.png, 10, 10)).toBe(0);
  });

  test('a_stamp_belongs_to_the_page', async () => {
    const stamp = `/MediaBox [0 0 200 100] /Annots [${extraObjectNumber(1, 0)} 0 R]`;
    const appearance = extraObjectNumber(1, 1);
    const bytes = makePdf({
      pages: 1,
      page: stamp,
      extra: [
        `<< /Type /Annot /Subtype /Stamp /Rect [0 0 50 50] /F 4 /AP << /N ${appearance} 0 R >> >>`,
        '<< /Type /XObject /Subtype /Form /BBox [0 0 50 50] /Length 19 >>\nstream\n0 g 0 0 50 50 re f \nendstream',
      ],
    });
    expect(await greyAt((await drawPdfPage(bytes, SETTINGS)).png, 10, 90)).toBe(0);
  });

  test('a_form_field_shows_its_value', async () => {
    const field = extraObjectNumber(1, 0);
    const bytes = makePdf({
      pages: 1,
      page: `/MediaBox [0 0 200 100] /Annots [${field} 0 R]`,
      catalog: `/AcroForm << /Fields [${field} 0 R] /DA (/Helv 40 Tf 0 g) /NeedAppearances true >>`,
      extra: [
        `<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (WWWW) /DA (/Helv 40 Tf 0 g) /Rect [0 0 200 100] /F 4 >>`,
      ],
    });
    const { png } = await drawPdfPage(bytes, SETTINGS);
    const pixels = await sharp(png).raw().toBuffer();
    expect(pixels.some((grey) => grey < 64)).toBe(true);
  });

  test('a_page_that_is_only_a_broken_scan_is_no_blank_page', async () => {
    const image = extraObjectNumber(1, 0);
    const withImage = (data: string) =>
      makePdf({
        pages: 1,
        page: `/MediaBox [0 0 200 100] /Resources << /XObject << /I ${image} 0 R >> >>`,
        content: '200 0 0 100 0 0 cm /I Do',
        extra: [
          `<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode /Length ${data.length} >>\nstream\n${data}\nendstream`,
        ],
      });
    await expect(drawPdfPage(withImage('no jpeg at all'), SETTINGS)).rejects.toMatchObject({
      code: 'page_unreadable',
    });
    expect(await drawPdfPage(makePdf({ pages: 1 }), SETTINGS)).toMatchObject({ width: 200 });
  });

  test('a_scan_whose_pixels_were_taken_for_points_is_drawn_with_its_own_pixels', async () => {
    const image = extraObjectNumber(1, 0);
    const data = '\u0000'.repeat(50 * 66);
    const scan = makePdf({
      pages: 1,
      page: `/MediaBox [0 0 2550 3300] /Resources << /XObject << /I ${image} 0 R >> >>`,
      content: '2550 0 0 3300 0 0 cm /I Do',
      extra: [
        `<< /Type /XObject /Subtype /Image /Width 50 /Height 66 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length ${data.length} >>\nstream\n${data}\nendstream`,
      ],
    });
    const picture = await drawPdfPage(scan, { dpi: 200, maxPixels: 40_000_000 });
    expect([picture.width, picture.height, picture.dpi]).toEqual([1700, 2200, null]);
    expect(await greyAt(picture.png, 800, 1100)).toBe(0);
  });

  test('what_cannot_be_opened_is_told_apart', async () => {
    await expect(drawPdfPage(USER_PASSWORD_PDF, SETTINGS)).rejects.toMatchObject({
      code: 'document_encrypted',
    });
    await expect(drawPdfPage(Buffer.from('%PDF-'), SETTINGS)).rejects.toMatchObject({
      code: 'page_unreadable',
    });
    await expect(drawPdfPage(makePdf({ pages: 0 }), SETTINGS)).rejects.toMatchObject({
      code: 'page_unreadable',
    });
  });
});
