import type { PdfHandle } from '../document/pdf-handle.ts';

const IMAGE_OBJECT = 3;
/** Scans stand among the first objects; drawings have hundreds of thousands. */
const MOST_OBJECTS_LOOKED_AT = 200;
const FILLS_THE_PAGE = 0.9;
const TEXT_OBJECT = 1;
/** FPDF_TEXTRENDERMODE_INVISIBLE: the text layer that OCR programs leave over a scan. */
const INVISIBLE = 3;
/** FPDF_IMAGEOBJ_METADATA: seven fields of four bytes; bits of a pixel and the colour space are the fifth and the sixth. */
const METADATA = { bytes: 28, bitsPerPixel: 16, colourSpace: 20 } as const;
/** FPDF_COLORSPACE_DEVICEGRAY, _CALGRAY and, with one channel, _ICCBASED. A palette or a stencil may have any colour. */
const GREY_SPACES: ReadonlySet<number> = new Set([1, 4, 7]);
const GREY_BITS_PER_PIXEL = 8;

/** pdfium leaves out what it cannot decode, without a word. */
export function hasUndecodableImage(pdf: PdfHandle, page: number): boolean {
  return imageObjects(pdf, page).some((image) => {
    const bitmap = pdf.pdfium.FPDFImageObj_GetBitmap(image);
    if (bitmap === 0) return true;
    pdf.pdfium.FPDFBitmap_Destroy(bitmap);
    return false;
  });
}

/**
 * Nothing but grey pictures and invisible text: drawn in grey it looks the same, for half the time and a quarter of the memory.
 * False whenever it is not certain.
 */
export function isGreyScan(pdf: PdfHandle, page: number): boolean {
  const { pdfium } = pdf;
  const count = pdfium.FPDFPage_CountObjects(page);
  if (count < 1 || count > MOST_OBJECTS_LOOKED_AT || pdfium.FPDFPage_GetAnnotCount(page) > 0) return false;
  return objectsOf(pdf, page).every((object) => {
    const type = pdfium.FPDFPageObj_GetType(object);
    if (type === TEXT_OBJECT) return pdfium.FPDFTextObj_GetTextRenderMode(object) === INVISIBLE;
    return type === IMAGE_OBJECT && isGreyImage(pdf, page, object);
  });
}

function isGreyImage(pdf: PdfHandle, page: number, image: number): boolean {
  const { pdfium } = pdf.pdfium;
  const at = pdfium.wasmExports.malloc(METADATA.bytes);
  if (at === 0) return false;
  try {
    if (!pdf.pdfium.FPDFImageObj_GetImageMetadata(image, page, at)) return false;
    const bits = pdfium.getValue(at + METADATA.bitsPerPixel, 'i32');
    const space = pdfium.getValue(at + METADATA.colourSpace, 'i32');
    return bits > 0 && bits <= GREY_BITS_PER_PIXEL && GREY_SPACES.has(space);
  } finally {
    pdfium.wasmExports.free(at);
  }
}

/** Pixels per point of the picture that fills the page, or null. */
export function findScanScale(
  pdf: PdfHandle,
  page: number,
  widthPoints: number,
  heightPoints: number,
): number | null {
  const { pdfium } = pdf;
  const at = pdfium.pdfium.wasmExports.malloc(24);
  if (at === 0) return null;
  try {
    for (const image of imageObjects(pdf, page)) {
      if (!pdfium.FPDFPageObj_GetBounds(image, at, at + 4, at + 8, at + 12)) continue;
      if (!pdfium.FPDFImageObj_GetImagePixelSize(image, at + 16, at + 20)) continue;
      const [left = 0, bottom = 0, right = 0, top = 0] = [0, 4, 8, 12].map((offset) =>
        readFloat(pdf, at + offset),
      );
      const area = (right - left) * (top - bottom);
      if (!(area >= FILLS_THE_PAGE * widthPoints * heightPoints)) continue;
      const pixels = pdfium.pdfium.getValue(at + 16, 'i32') * pdfium.pdfium.getValue(at + 20, 'i32');
      return pixels > 0 ? Math.sqrt(pixels / area) : null;
    }
    return null;
  } finally {
    pdfium.pdfium.wasmExports.free(at);
  }
}

function readFloat(pdf: PdfHandle, at: number): number {
  return pdf.pdfium.pdfium.getValue(at, 'float');
}

function imageObjects(pdf: PdfHandle, page: number): number[] {
  return objectsOf(pdf, page).filter((object) => pdf.pdfium.FPDFPageObj_GetType(object) === IMAGE_OBJECT);
}

function objectsOf({ pdfium }: PdfHandle, page: number): number[] {
  const count = Math.min(pdfium.FPDFPage_CountObjects(page), MOST_OBJECTS_LOOKED_AT);
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    pdfium.FPDFPage_GetObject(page, index),
  ).filter((object) => object !== 0);
}
