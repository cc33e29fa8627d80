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
): Promise<Pick<DrawnPicture, 'base64' | 'mime' | 'width' | 'height'>> {
  const { pixels, channels, isScan } = raster;
  const grey = channels === 1 ? pixels : greyOf(pixels);
  const raw = { width: raster.width, height: raster.height, channels: grey ? 1 : channels } as const;
  const input = sharp(grey ?? pixels, { raw });
  const upright = rotation === 0 ? input : input.rotate(rotation);
  const isPhoto = isScan && !grey;
  const flat = grey ? upright.toColourspace('b-w') : upright.removeAlpha();
  const encoded = isPhoto ? flat.jpeg(PHOTO) : flat.png(PNG);
  const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
  const mime = isPhoto ? 'image/jpeg' : 'image/png';
  return { base64: toBase64(data), mime, width: info.width, height: info.height };
}

/** One byte per pixel of four; null where red, green and blue are not the same everywhere. */
function greyOf(pixels: Uint8Array): Uint8Array | null {
  const grey = new Uint8Array(pixels.length / 4);
  for (let at = 0, to = 0; at < pixels.length; at += 4, to += 1) {
    const red = pixels[at] as number;
    if (red !== pixels[at + 1] || red !== pixels[at + 2]) return null;
    grey[to] = red;
  }
  return grey;
}

/** In memory of its own, so that it can be handed to another thread. */
function toBase64(bytes: Buffer): Uint8Array {
  const text = bytes.toString('base64');
  const ascii = Buffer.allocUnsafeSlow(text.length);
  ascii.write(text, 'latin1');
  return ascii;
}
