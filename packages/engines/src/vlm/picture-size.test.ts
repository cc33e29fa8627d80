import { ENGINE_PROFILES } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SizeLimits, sizeOfImage, sizeOfPdfPage } from './picture-size.ts';

const limits = (name: keyof typeof ENGINE_PROFILES, changes: Partial<SizeLimits> = {}): SizeLimits => ({
  ...{ profile: ENGINE_PROFILES[name].picture, dpi: 0, maxPixels: 40_000_000 },
  ...changes,
});
const LETTER = { widthPoints: 612, heightPoints: 792 };

describe('how large an engine gets its picture (contract 3.1 to 3.3)', () => {
  it('a_letter_page_has_each_engines_own_size', () => {
    expect(sizeOfPdfPage(LETTER, limits('surya'))).toEqual({ width: 1_632, height: 2_112 });
    expect(sizeOfPdfPage(LETTER, limits('chandra'))).toEqual({ width: 1_632, height: 2_112 });
    expect(sizeOfPdfPage(LETTER, limits('olmocr'))).toEqual({ width: 995, height: 1_288 });
  });

  it('the_operators_density_stands_instead_of_the_engines', () => {
    expect(sizeOfPdfPage(LETTER, limits('surya', { dpi: 96 }))).toEqual({ width: 816, height: 1_056 });
  });

  it('a_small_page_is_drawn_so_that_chandra_can_read_it', () => {
    expect(sizeOfPdfPage({ widthPoints: 144, heightPoints: 288 }, limits('chandra'))).toEqual({
      width: 1_024,
      height: 2_048,
    });
    expect(sizeOfPdfPage({ widthPoints: 144, heightPoints: 288 }, limits('surya'))).toEqual({
      width: 384,
      height: 768,
    });
  });

  it('a_picture_is_enlarged_for_chandra_scaled_for_olmocr_and_left_as_it_is_for_surya', () => {
    expect(sizeOfImage({ width: 600, height: 800 }, limits('chandra'))).toEqual({
      width: 1_536,
      height: 2_048,
    });
    expect(sizeOfImage({ width: 600, height: 800 }, limits('olmocr'))).toEqual({ width: 966, height: 1_288 });
    expect(sizeOfImage({ width: 600, height: 800 }, limits('surya'))).toEqual({ width: 600, height: 800 });
  });

  it('no_picture_is_larger_than_engine_and_pool_allow_nor_smaller_than_a_patch', () => {
    const sides = fc.double({ min: 0.001, max: 1e9, noNaN: true });
    const name = fc.constantFrom('surya' as const, 'chandra' as const, 'olmocr' as const);
    fc.assert(
      fc.property(name, sides, sides, fc.constantFrom(0, 72, 600), (engine, width, height, dpi) => {
        const given = limits(engine, { dpi, maxPixels: 5_000_000 });
        const { maxArea, longestSide } = given.profile;
        for (const size of [
          sizeOfPdfPage({ widthPoints: width, heightPoints: height }, given),
          sizeOfImage({ width, height }, given),
        ]) {
          const shortest = Math.min(size.width, size.height);
          expect(shortest).toBeGreaterThanOrEqual(28);
          // A side of one patch is the least there is, however long the other one.
          if (shortest > 28)
            expect(size.width * size.height).toBeLessThanOrEqual(Math.min(5e6, maxArea ?? 5e6));
          expect(Math.max(size.width, size.height)).toBeLessThanOrEqual(longestSide ?? 10_000);
        }
      }),
    );
  });
});
