import type { PdfHandle } from '../document/pdf-handle.ts';

const IMAGE_OBJECT = 3;
/** Scans stand among the first objects; drawings have hundreds of thousands. */
const MOST_OBJECTS_LOOKED_AT = 200;
const FILLS_THE_PAGE = 0.9;

/** pdfium leaves out what it cannot decode, without a word. */
export function hasUndecodableImage(pdf: PdfHandle, page: number): boolean {
  return imageObjects(pdf, page).some((image) => {
    const bitmap = pdf.pdfium.FPDFImageObj_GetBitmap(image);
    if (bitmap === 0) return true;
    pdf.pdfium.FPDFBitmap_Destroy(bitmap);
    return false;
  });
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

function imageObjects({ pdfium }: PdfHandle, page: number): number[] {
  const count = Math.min(pdfium.FPDFPage_CountObjects(page), MOST_OBJECTS_LOOKED_AT);
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    pdfium.FPDFPage_GetObject(page, index),
  ).filter((object) => object !== 0 && pdfium.FPDFPageObj_GetType(object) === IMAGE_OBJECT);
}
