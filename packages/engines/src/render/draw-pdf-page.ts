import { PagefleetError } from '@pagefleet/contract';
import type { Picture } from '../document/draw-picture.ts';
import { PdfHandle } from '../document/pdf-handle.ts';
import { heapOf } from '../document/pdfium.ts';
import { asGreyPng, sharp } from '../document/sharp.ts';
import { chooseScale } from './choose-scale.ts';
import { findScanScale, hasUndecodableImage } from './page-images.ts';

export interface DrawSettings {
  readonly dpi: number;
  readonly maxPixels: number;
}

const GREY_8_BIT = 1;
const WHITE = 0xffffffff;
/** FPDF_ANNOT: stamps and highlights belong to what a reader sees. */
const DRAW_ANNOTATIONS = 0x01;

/** Draws the first page of a PDF as 8-bit grey. Calls pdfium on this thread. */
export async function drawPdfPage(bytes: Uint8Array, settings: DrawSettings): Promise<Picture> {
  const opening = await PdfHandle.open(bytes);
  if (opening.outcome === 'encrypted')
    throw new PagefleetError('document_encrypted', 'the page needs a password');
  if (opening.outcome === 'damaged') {
    throw new PagefleetError('page_unreadable', `the page cannot be opened: ${opening.reason}`);
  }
  const { pdf } = opening;
  try {
    const raster = pdf.withPage(0, (page) => drawRaster(pdf, page, settings));
    if (!raster) throw new PagefleetError('page_unreadable', 'the page cannot be loaded or drawn');
    const { grey, width, height, dpi } = raster;
    const png = await asGreyPng(sharp(grey, { raw: { width, height, channels: 1 } })).toBuffer();
    return { png, width, height, dpi };
  } finally {
    pdf.close();
  }
}

interface Raster {
  readonly grey: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly dpi: number | null;
}

function drawRaster(pdf: PdfHandle, page: number, settings: DrawSettings): Raster | null {
  const { pdfium } = pdf;
  const widthPoints = pdfium.FPDF_GetPageWidthF(page);
  const heightPoints = pdfium.FPDF_GetPageHeightF(page);
  if (!(widthPoints > 0) || !(heightPoints > 0)) return null;

  // Clamped before anything is allocated: pdfium multiplies sides in 32 bits and would report success on a wrapped size.
  const scanScale = findScanScale(pdf, page, widthPoints, heightPoints);
  const { pixelsPerPoint, dpi } = chooseScale({ widthPoints, heightPoints, scanScale }, settings);
  const width = Math.max(1, Math.round(widthPoints * pixelsPerPoint));
  const height = Math.max(1, Math.round(heightPoints * pixelsPerPoint));

  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, GREY_8_BIT, 0, 0);
  if (bitmap === 0) return null;
  try {
    if (!pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE)) return null;
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, DRAW_ANNOTATIONS);
    drawFormFields(pdf, page, { bitmap, width, height });
    const grey = copyRows(pdf, bitmap, width, height);
    // A page that is nothing but a broken scan must not pass for a blank one.
    if (grey && isWhite(grey) && hasUndecodableImage(pdf, page)) return null;
    return grey && { grey, width, height, dpi };
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}

/** Values of some widgets show only when the form is drawn over the page. */
function drawFormFields(
  pdf: PdfHandle,
  page: number,
  target: { bitmap: number; width: number; height: number },
): void {
  const { pdfium } = pdf;
  const info = pdfium.PDFiumExt_OpenFormFillInfo();
  if (info === 0) return;
  const form = pdfium.PDFiumExt_InitFormFillEnvironment(pdf.document, info);
  if (form !== 0) {
    pdfium.FORM_OnAfterLoadPage(page, form);
    pdfium.FPDF_FFLDraw(form, target.bitmap, page, 0, 0, target.width, target.height, 0, DRAW_ANNOTATIONS);
    pdfium.FORM_OnBeforeClosePage(page, form);
    pdfium.PDFiumExt_ExitFormFillEnvironment(form);
  }
  pdfium.PDFiumExt_CloseFormFillInfo(info);
}

/** Out of the WASM heap, without the padding at the end of each row. */
function copyRows(pdf: PdfHandle, bitmap: number, width: number, height: number): Uint8Array | null {
  const from = pdf.pdfium.FPDFBitmap_GetBuffer(bitmap);
  const stride = pdf.pdfium.FPDFBitmap_GetStride(bitmap);
  if (from === 0 || stride < width) return null;
  const heap = heapOf(pdf.pdfium);
  if (stride === width) return heap.slice(from, from + width * height);
  const grey = new Uint8Array(width * height);
  for (let row = 0; row < height; row += 1) {
    grey.set(heap.subarray(from + row * stride, from + row * stride + width), row * width);
  }
  return grey;
}

function isWhite(grey: Uint8Array): boolean {
  for (const value of grey) if (value !== 0xff) return false;
  return true;
}
