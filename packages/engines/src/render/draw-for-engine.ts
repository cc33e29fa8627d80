import { drawImageRaster } from '../document/draw-picture.ts';
import type { PageKind } from '../port.ts';
import type { DrawnPicture } from '../vlm/drawing.ts';
import { type SizeLimits, sizeOfImage, sizeOfPdfPage } from '../vlm/picture-size.ts';
import { chooseScale, type PageShape } from './choose-scale.ts';
import { drawPdfRaster } from './draw-pdf-page.ts';
import { encodeForEngine } from './encode-for-engine.ts';

export interface EngineDrawTask {
  readonly bytes: Uint8Array;
  readonly kind: PageKind;
  readonly rotation: 0 | 90 | 180 | 270;
  readonly limits: SizeLimits;
}

const UNKNOWN_DPI = 72;
const POINTS_PER_INCH = 72;

/** Draws a page as an engine wants it, whatever file it is in. Calls pdfium on this thread. */
export async function drawForEngine({
  bytes,
  kind,
  rotation,
  limits,
}: EngineDrawTask): Promise<DrawnPicture> {
  if (kind === 'pdf') {
    const raster = await drawPdfRaster(bytes, { look: 'colour', size: (page) => sizeOf(page, limits) });
    return { ...(await encodeForEngine(raster, rotation)), dpi: raster.dpi ?? UNKNOWN_DPI };
  }
  const raster = await drawImageRaster(bytes, { maxPixels: limits.maxPixels }, (size) =>
    sizeOfImage(size, limits),
  );
  return { ...(await encodeForEngine(raster, rotation)), dpi: raster.dpi ?? UNKNOWN_DPI };
}

/** A scan whose page states no believable size counts in its own pixels, as for the CPU engine. */
function sizeOf(page: PageShape, limits: SizeLimits) {
  const dpi = limits.dpi || limits.profile.dpi || POINTS_PER_INCH;
  const believed = chooseScale(page, { dpi, maxPixels: limits.maxPixels });
  const size =
    believed.dpi === null ? sizeOfScan(page, believed.pixelsPerPoint, limits) : sizeOfPdfPage(page, limits);
  const drawnDpi = Math.round((size.width / page.widthPoints) * POINTS_PER_INCH);
  return { ...size, dpi: believed.dpi === null ? null : Math.max(1, drawnDpi) };
}

function sizeOfScan({ widthPoints, heightPoints }: PageShape, pixelsPerPoint: number, limits: SizeLimits) {
  return sizeOfImage({ width: widthPoints * pixelsPerPoint, height: heightPoints * pixelsPerPoint }, limits);
}
