/** No side is drawn longer; engines refuse pictures above 32,767 and nothing readable needs more. */
const MAX_SIDE_PIXELS = 10_000;

/** A picture up to this many times `maxPixels` is decoded and made smaller; above it is refused undecoded. */
export const DECODE_FACTOR = 4;

/** The factor (at most 1) that brings a picture within its area and its longest side. */
export function fitScale(width: number, height: number, maxPixels: number): number {
  return Math.min(1, Math.sqrt(maxPixels / (width * height)), MAX_SIDE_PIXELS / Math.max(width, height));
}
