import { sharp } from '../document/sharp.ts';
import type { DrawnPicture } from '../vlm/drawing.ts';
import type { Raster } from './draw-pdf-page.ts';

/** Letters keep their edges; 4:2:0 would blur coloured ones. */
const PHOTO = { quality: 95, chromaSubsampling: '4:4:4' } as const;
/** Bytes of the pages of the corpus against time: level 1 a quarter more, level 6 three times as long (docs/engines.md). */
const PNG = { compressionLevel: 3 } as const;

/**
 * The file that an engine gets of a drawn page. Pages without colour, which most are, become grey PNGs, half as large and
 * twice as fast as coloured ones; coloured scans become JPEGs, a quarter of their PNG.
 */
export async function encodeForEngine(
  raster: Omit<Raster, 'dpi'>,
  rotation: 0 | 90 | 180 | 270,
): Promise<Pick<DrawnPicture, 'bytes' | 'mime' | 'width' | 'height'>> {
  const { pixels, channels, isScan } = raster;
  const input = sharp(pixels, { raw: { width: raster.width, height: raster.height, channels } });
  const upright = rotation === 0 ? input : input.rotate(rotation);
  const isGrey = channels === 1 || hasNoColour(pixels);
  const isPhoto = isScan && !isGrey;
  const flat = isGrey ? upright.removeAlpha().toColourspace('b-w') : upright.removeAlpha();
  const encoded = isPhoto ? flat.jpeg(PHOTO) : flat.png(PNG);
  const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
  return { bytes: data, mime: isPhoto ? 'image/jpeg' : 'image/png', width: info.width, height: info.height };
}

/** Of a raster with four bytes per pixel: red, green and blue are the same everywhere. */
function hasNoColour(pixels: Uint8Array): boolean {
  for (let at = 0; at < pixels.length; at += 4) {
    const red = pixels[at];
    if (red !== pixels[at + 1] || red !== pixels[at + 2]) return false;
  }
  return true;
}
