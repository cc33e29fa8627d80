import { PagefleetError } from '@pagefleet/contract';
import type { Picture } from '../document/draw-picture.ts';
import { PdfHandle } from '../document/pdf-handle.ts';
import { heapOf } from '../document/pdfium.ts';
import { asGreyPng, sharp } from '../document/sharp.ts';
import { chooseScale, type PageShape } from './choose-scale.ts';
import { findScanScale, hasUndecodableImage, isGreyScan } from './page-images.ts';

export interface DrawSettings {
  readonly dpi: number;
  readonly maxPixels: number;
}

type Look = 'grey' | 'colour';

/** What a page is drawn into. */
export interface RasterPlan {
  /** `colour`: in its own colours; a scan that has none is drawn in grey */
  readonly look: Look;
  /** how large, from the page’s own size */
  size(page: PageShape): { readonly width: number; readonly height: number; readonly dpi: number | null };
}

/** Bytes per pixel of each look: 8-bit grey, or red, green, blue and a byte that means nothing. */
const LOOKS = { grey: { format: 1, channels: 1 }, colour: { format: 3, channels: 4 } } as const;
const WHITE = 0xffffffff;
/** FPDF_ANNOT: stamps and highlights belong to what a reader sees. */
const DRAW_ANNOTATIONS = 0x01;
/** FPDF_REVERSE_BYTE_ORDER: red first. */
const RED_FIRST = 0x10;

/** Draws the first page of a PDF as 8-bit grey. Calls pdfium on this thread. */
export async function drawPdfPage(bytes: Uint8Array, settings: DrawSettings): Promise<Picture> {
  const { pixels, width, height, dpi } = await drawPdfRaster(bytes, {
    look: 'grey',
    size(page) {
      const { pixelsPerPoint, dpi: density } = chooseScale(page, settings);
      const side = (points: number): number => Math.max(1, Math.round(points * pixelsPerPoint));
      return { width: side(page.widthPoints), height: side(page.heightPoints), dpi: density };
    },
  });
  const png = await asGreyPng(sharp(pixels, { raw: { width, height, channels: 1 } })).toBuffer();
  return { png, width, height, dpi };
}

/** Draws the first page of a PDF. Calls pdfium on this thread. */
export async function drawPdfRaster(bytes: Uint8Array, plan: RasterPlan): Promise<Raster> {
  const opening = await PdfHandle.open(bytes);
  if (opening.outcome === 'encrypted')
    throw new PagefleetError('document_encrypted', 'the page needs a password');
  if (opening.outcome === 'damaged') {
    throw new PagefleetError('page_unreadable', `the page cannot be opened: ${opening.reason}`);
  }
  const { pdf } = opening;
  try {
    const raster = pdf.withPage(0, (page) => drawRaster(pdf, page, plan));
    if (!raster) throw new PagefleetError('page_unreadable', 'the page cannot be loaded or drawn');
    return raster;
  } finally {
    pdf.close();
  }
}

export interface Raster {
  readonly pixels: Uint8Array;
  /** bytes per pixel */
  readonly channels: 1 | 4;
  readonly width: number;
  readonly height: number;
  readonly dpi: number | null;
  /** one picture fills the page: a scan */
  readonly isScan: boolean;
}

function drawRaster(pdf: PdfHandle, page: number, plan: RasterPlan): Raster | null {
  const { pdfium } = pdf;
  const widthPoints = pdfium.FPDF_GetPageWidthF(page);
  const heightPoints = pdfium.FPDF_GetPageHeightF(page);
  if (!(widthPoints > 0) || !(heightPoints > 0)) return null;

  // Clamped before anything is allocated: pdfium multiplies sides in 32 bits and would report success on a wrapped size.
  const scanScale = findScanScale(pdf, page, widthPoints, heightPoints);
  const { width, height, dpi } = plan.size({ widthPoints, heightPoints, scanScale });
  const look = plan.look === 'colour' && isGreyScan(pdf, page) ? 'grey' : plan.look;
  const { format, channels } = LOOKS[look];

  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, format, 0, 0);
  if (bitmap === 0) return null;
  try {
    if (!pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE)) return null;
    const flags = DRAW_ANNOTATIONS | (look === 'colour' ? RED_FIRST : 0);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags);
    drawFormFields(pdf, page, { bitmap, width, height, flags });
    const pixels = copyRows(pdf, bitmap, { rowBytes: width * channels, height });
    // A page that is nothing but a broken scan must not pass for a blank one.
    if (pixels && isWhite(pixels) && hasUndecodableImage(pdf, page)) return null;
    return pixels && { pixels, channels, width, height, dpi, isScan: scanScale !== null };
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}

/** Values of some widgets show only when the form is drawn over the page. */
function drawFormFields(
  pdf: PdfHandle,
  page: number,
  target: { bitmap: number; width: number; height: number; flags: number },
): void {
  const { pdfium } = pdf;
  const info = pdfium.PDFiumExt_OpenFormFillInfo();
  if (info === 0) return;
  const form = pdfium.PDFiumExt_InitFormFillEnvironment(pdf.document, info);
  if (form !== 0) {
    pdfium.FORM_OnAfterLoadPage(page, form);
    pdfium.FPDF_FFLDraw(form, target.bitmap, page, 0, 0, target.width, target.height, 0, target.flags);
    pdfium.FORM_OnBeforeClosePage(page, form);
    pdfium.PDFiumExt_ExitFormFillEnvironment(form);
  }
  pdfium.PDFiumExt_CloseFormFillInfo(info);
}

/** Out of the WASM heap, without the padding at the end of each row. */
function copyRows(
  pdf: PdfHandle,
  bitmap: number,
  { rowBytes, height }: { rowBytes: number; height: number },
): Uint8Array | null {
  const from = pdf.pdfium.FPDFBitmap_GetBuffer(bitmap);
  const stride = pdf.pdfium.FPDFBitmap_GetStride(bitmap);
  if (from === 0 || stride < rowBytes) return null;
  const heap = heapOf(pdf.pdfium);
  if (stride === rowBytes) return heap.slice(from, from + rowBytes * height);
  const pixels = new Uint8Array(rowBytes * height);
  for (let row = 0; row < height; row += 1) {
    pixels.set(heap.subarray(from + row * stride, from + row * stride + rowBytes), row * rowBytes);
  }
  return pixels;
}

/** Also of colours: the byte that means nothing is 0xff as well. */
function isWhite(pixels: Uint8Array): boolean {
  for (const value of pixels) if (value !== 0xff) return false;
  return true;
}
