import type { PictureProfile } from '@pagefleet/contract';
import { fitScale } from '../document/raster-limits.ts';

export interface PictureSize {
  /** pixels */
  readonly width: number;
  readonly height: number;
}

export interface SizeLimits {
  readonly profile: PictureProfile;
  /** instead of the profile’s; 0: the profile’s */
  readonly dpi: number;
  /** of the pool: larger pages are drawn smaller */
  readonly maxPixels: number;
}

const POINTS_PER_INCH = 72;
/** Where a profile has neither a density nor a longest side. */
const USUAL_DPI = 192;
/** The models cut a picture into patches of 28 pixels, and refuse one without a whole patch. */
const MIN_SIDE = 28;

/** How large a PDF page is drawn; sides in points. */
export function sizeOfPdfPage(
  { widthPoints, heightPoints }: { readonly widthPoints: number; readonly heightPoints: number },
  limits: SizeLimits,
): PictureSize {
  const { profile } = limits;
  const dpi = limits.dpi || profile.dpi;
  if (dpi === null && profile.longestSide !== null) return sized(widthPoints, heightPoints, null, limits);
  const wanted = (dpi ?? USUAL_DPI) / POINTS_PER_INCH;
  const least = (profile.minShortSideOfPdf ?? 0) / Math.min(widthPoints, heightPoints);
  return sized(widthPoints, heightPoints, Math.max(wanted, least), limits);
}

/** How large a picture is sent; sides in its own pixels. */
export function sizeOfImage({ width, height }: PictureSize, limits: SizeLimits): PictureSize {
  const { profile } = limits;
  const least = (profile.minShortSideOfImage ?? 0) / Math.min(width, height);
  return sized(width, height, profile.longestSide === null ? Math.max(1, least) : null, limits);
}

/** `scale` null: to the longest side. Never above what the engine takes, the pool allows or a picture may be. */
function sized(
  width: number,
  height: number,
  scale: number | null,
  { profile, maxPixels }: SizeLimits,
): PictureSize {
  const toLongest = (profile.longestSide ?? Number.POSITIVE_INFINITY) / Math.max(width, height);
  const wanted = Math.min(scale ?? toLongest, toLongest);
  const most = Math.min(maxPixels, profile.maxArea ?? Number.POSITIVE_INFINITY);
  const fitted = wanted * fitScale(width * wanted, height * wanted, most);
  return { width: side(width * fitted), height: side(height * fitted) };
}

function side(pixels: number): number {
  return Math.max(MIN_SIDE, Math.floor(pixels + 1e-6));
}
