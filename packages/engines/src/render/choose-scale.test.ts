import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseScale } from './choose-scale.ts';

const SETTINGS = { dpi: 200, maxPixels: 40_000_000 };
const letter = { widthPoints: 612, heightPoints: 792 };

describe('how large a page is drawn (contract 5.3: clamp before drawing)', () => {
  test('a_page_is_drawn_at_the_density_asked_for_whatever_its_scan_has', () => {
    for (const scanScale of [null, 1, 2, 300 / 72, 600 / 72]) {
      expect(chooseScale({ ...letter, scanScale }, SETTINGS)).toEqual({ pixelsPerPoint: 200 / 72, dpi: 200 });
    }
  });

  test('a_scan_whose_pixels_were_taken_for_points_is_not_blown_up', () => {
    const page = { widthPoints: 2550, heightPoints: 3300, scanScale: 1 };
    expect(chooseScale(page, SETTINGS)).toEqual({ pixelsPerPoint: 1, dpi: null });
  });

  test('a_scan_on_a_page_of_stamp_size_is_drawn_with_its_own_pixels', () => {
    const page = { widthPoints: 100, heightPoints: 150, scanScale: 10 };
    expect(chooseScale(page, SETTINGS)).toEqual({ pixelsPerPoint: 10, dpi: null });
    expect(chooseScale({ ...page, scanScale: null }, SETTINGS).dpi).toBe(200);
  });

  test('no_page_of_any_size_exceeds_the_limits', () => {
    const points = fc.double({ min: 0.001, max: 1e9, noNaN: true });
    const scan = fc.option(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), { nil: null });
    fc.assert(
      fc.property(points, points, scan, (widthPoints, heightPoints, scanScale) => {
        const { pixelsPerPoint } = chooseScale({ widthPoints, heightPoints, scanScale }, SETTINGS);
        const width = widthPoints * pixelsPerPoint;
        const height = heightPoints * pixelsPerPoint;
        return width * height <= 40_000_001 && Math.max(width, height) <= 10_000.001;
      }),
    );
  });
});
