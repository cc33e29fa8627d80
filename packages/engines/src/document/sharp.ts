import sharp, { type Sharp } from 'sharp';

// Pages are the unit of parallel work: one picture never spreads over cores, and none is worth remembering.
sharp.concurrency(1);
sharp.cache(false);

export { sharp };

/**
 * 8-bit grey and quick: higher levels cost many times as much for a few bytes less. Without the colour space sharp
 * writes three equal channels.
 */
export function asGreyPng(picture: Sharp): Sharp {
  return picture.toColourspace('b-w').png({ compressionLevel: 3 });
}
