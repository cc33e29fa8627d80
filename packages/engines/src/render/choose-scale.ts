import { fitScale } from '../document/raster-limits.ts';
import type { DrawSettings } from './draw-pdf-page.ts';

export interface PageShape {
  readonly widthPoints: number;
  readonly heightPoints: number;
  /** pixels per point of the one picture that fills the page; null when there is none */
  readonly scanScale: number | null;
}

export interface Scale {
  readonly pixelsPerPoint: number;
  /** null when the size of the page in points is not believed */
  readonly dpi: number | null;
}

const POINTS_PER_INCH = 72;
/** A letter page at 200 DPI, where Tesseract reads best for its time. */
const READABLE_PIXELS = 3_740_000;
const TOO_LARGE_PIXELS = 2 * READABLE_PIXELS;
const TOO_SMALL_PIXELS = READABLE_PIXELS / 4;

/**
 * How large a page is drawn: at the density asked for, within the limits. Scanning apps often state a size that has
 * nothing to do with the paper; where following it would blow a scan up or make it unreadable, its own pixels decide.
 */
export function chooseScale(page: PageShape, settings: DrawSettings): Scale {
  const wanted = settings.dpi / POINTS_PER_INCH;
  const area = page.widthPoints * page.heightPoints;
  const readable = Math.sqrt(READABLE_PIXELS / area);
  const { scanScale } = page;
  if (scanScale !== null && scanScale < wanted && area * wanted ** 2 > TOO_LARGE_PIXELS) {
    return { pixelsPerPoint: clamp(Math.max(scanScale, Math.min(readable, wanted))), dpi: null };
  }
  if (scanScale !== null && scanScale > wanted && area * wanted ** 2 < TOO_SMALL_PIXELS) {
    return { pixelsPerPoint: clamp(Math.min(scanScale, readable)), dpi: null };
  }
  const pixelsPerPoint = clamp(wanted);
  return { pixelsPerPoint, dpi: Math.max(1, Math.round(pixelsPerPoint * POINTS_PER_INCH)) };

  function clamp(scale: number): number {
    return scale * fitScale(page.widthPoints * scale, page.heightPoints * scale, settings.maxPixels);
  }
}
