import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { readDensity } from './read-density.ts';
import { makeTiff } from './tiff-fixture.ts';

const blank = () => sharp({ create: { width: 8, height: 8, channels: 3, background: 'white' } });

describe('what a file says of its density', () => {
  test('png_and_jpeg_tell_dots_per_inch', async () => {
    const png = readDensity(await blank().withMetadata({ density: 300 }).png().toBuffer(), 0);
    expect(png?.x).toBeCloseTo(300, 0);
    const jfif = Buffer.from('ffd8ffe000104a46494600010101009600960000ffd9', 'hex');
    expect(readDensity(jfif, 0)).toEqual({ x: 150, y: 150 });
  });

  test('a_jpeg_that_tells_it_in_exif_alone_is_believed_too', async () => {
    const jpeg = await blank().withMetadata({ density: 150 }).jpeg().toBuffer();
    const { density } = await sharp(jpeg).metadata();
    expect(readDensity(jpeg, 0, density)).toEqual({ x: 150, y: 150 });
  });

  test('each_page_of_a_tiff_has_its_own', () => {
    const tiff = makeTiff({ pages: [{ grey: 0 }, { grey: 0, dpi: [204, 98] }] });
    expect(readDensity(tiff, 0)).toEqual({ x: 200, y: 200 });
    expect(readDensity(tiff, 1)).toEqual({ x: 204, y: 98 });
  });

  test.each([
    [1, 1],
    [72_000, 72_000],
    [600, 60],
  ])('%i_by_%i_is_not_believed', (x, y) => {
    expect(readDensity(makeTiff({ pages: [{ grey: 0, dpi: [x, y] }] }), 0)).toBeNull();
  });

  test('damaged_bytes_never_throw_and_never_hang', () => {
    const seeds = [
      makeTiff({ pages: [{ grey: 0 }, { grey: 1 }], loop: true }),
      Buffer.from('89504e470d0a1a0a', 'hex'),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 20 }),
        fc.nat(20_000),
        (seed, changes, page) => {
          const bytes = Buffer.from(seed);
          for (const [at, value] of changes) bytes[8 + (at % Math.max(1, bytes.length - 8))] = value;
          const density = readDensity(bytes, page);
          return density === null || density.x >= 50;
        },
      ),
    );
  });
});
