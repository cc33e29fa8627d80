import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { drawPicture } from './draw-picture.ts';
import { makeTiff } from './tiff-fixture.ts';

const LIMITS = { maxPixels: 1_000_000 };

/** Left half black, right half white, as raw RGB. */
const halves = (width: number, height: number): Sharp => {
  const raw = Buffer.alloc(width * height * 3, 255);
  for (let at = 0; at < width * height; at += 1) if (at % width < width / 2) raw.fill(0, at * 3, at * 3 + 3);
  return sharp(raw, { raw: { width, height, channels: 3 } });
};

async function greyLevels(png: Uint8Array): Promise<{ left: number; right: number; format: string }> {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  const metadata = await sharp(png).metadata();
  return {
    left: data[0] ?? -1,
    right: data[(info.width - 1) * info.channels] ?? -1,
    format: `${metadata.format} ${metadata.channels}x${metadata.depth}`,
  };
}

const BLACK_AND_WHITE = { left: 0, right: 255, format: 'png 1xuchar' };

describe('every depth and colour ends as 8-bit grey on white (issue 2: 16-bit, CMYK, 1-bit and alpha images)', () => {
  test.each([
    ['16_bit', () => halves(20, 10).toColourspace('rgb16').png().toBuffer()],
    ['16_bit_grey_tiff', () => halves(20, 10).toColourspace('grey16').tiff().toBuffer()],
    ['cmyk_tiff', () => halves(20, 10).toColourspace('cmyk').tiff({ compression: 'lzw' }).toBuffer()],
    [
      '1_bit_g4_tiff',
      () => halves(20, 10).toColourspace('b-w').tiff({ compression: 'ccittfax4', bitdepth: 1 }).toBuffer(),
    ],
    ['palette_png', () => halves(20, 10).png({ palette: true, colours: 2 }).toBuffer()],
    ['deflate_tiff', () => halves(20, 10).tiff({ compression: 'deflate' }).toBuffer()],
    ['bigtiff', () => halves(20, 10).tiff({ bigtiff: true }).toBuffer()],
    ['lossless_webp', () => halves(20, 10).webp({ lossless: true }).toBuffer()],
  ])('%s', async (_, make) => {
    const { left, right, format } = await greyLevels((await drawPicture(await make(), 0, LIMITS)).png);
    expect(format).toBe(BLACK_AND_WHITE.format);
    expect(left).toBeLessThan(60);
    expect(right).toBeGreaterThan(245);
  });

  test('what_is_transparent_becomes_white_paper', async () => {
    const clear = sharp({
      create: { width: 20, height: 10, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    });
    expect(await greyLevels((await drawPicture(await clear.png().toBuffer(), 0, LIMITS)).png)).toEqual({
      left: 255,
      right: 255,
      format: 'png 1xuchar',
    });
  });
});

describe('the picture stands upright with square pixels', () => {
  test('an_exif_turn_is_applied', async () => {
    const turned = await halves(20, 10).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const picture = await drawPicture(turned, 0, LIMITS);
    expect([picture.width, picture.height]).toEqual([10, 20]);
    const levels = await greyLevels(picture.png);
    expect([levels.left < 60, levels.right < 60]).toEqual([true, true]);
  });

  test('a_fax_of_204_by_98_dpi_is_stretched_to_its_shape', async () => {
    const fax = makeTiff({ pages: [{ grey: 0 }, { grey: 0, width: 200, height: 100, dpi: [204, 102] }] });
    expect(await drawPicture(fax, 1, LIMITS)).toMatchObject({ width: 200, height: 200, dpi: 204 });
    expect(await drawPicture(fax, 0, LIMITS)).toMatchObject({ width: 4, height: 4, dpi: 200 });
  });

  test('a_picture_above_the_limit_is_made_smaller_and_says_its_new_density', async () => {
    const large = await halves(2000, 1000).withMetadata({ density: 300 }).png().toBuffer();
    const picture = await drawPicture(large, 0, { maxPixels: 500_000 });
    expect(picture).toMatchObject({ width: 1000, height: 500, dpi: 150 });
  });

  test('a_side_that_no_engine_takes_is_made_shorter', async () => {
    // contract 4.3: a side above 32,767 pixels breaks tesseract.js with an unrelated message.
    const long = await sharp({ create: { width: 33_000, height: 20, channels: 3, background: 'white' } })
      .png()
      .toBuffer();
    expect((await drawPicture(long, 0, LIMITS)).width).toBe(10_000);
  });

  test('without_a_density_none_is_invented', async () => {
    const webp = await halves(20, 10).webp().toBuffer();
    expect((await drawPicture(webp, 0, LIMITS)).dpi).toBeNull();
  });
});

describe('pictures that cannot be drawn', () => {
  test('a_header_without_pixels_is_an_unreadable_page', async () => {
    const png = await halves(200, 100).png().toBuffer();
    await expect(drawPicture(png.subarray(0, 60), 0, LIMITS)).rejects.toMatchObject({
      code: 'page_unreadable',
    });
  });

  test('too_many_pixels_are_refused_before_they_are_decoded', async () => {
    const png = await halves(2000, 1000).png().toBuffer();
    await expect(drawPicture(png, 0, { maxPixels: 400_000 })).rejects.toMatchObject({
      code: 'page_too_large',
    });
  });
});
