import type { WrappedPdfiumModule } from '@embedpdf/pdfium';
import { PagefleetError } from '@pagefleet/contract';
import { discardPdfium, getPdfium, hasGrown, heapOf } from './pdfium.ts';

export type PdfOpening =
  | { readonly outcome: 'opened'; readonly pdf: PdfHandle }
  | { readonly outcome: 'encrypted' }
  | { readonly outcome: 'damaged'; readonly reason: string };

/** `FPDF_GetLastError` after a failed load. */
const LAST_ERROR_PASSWORD = 4;
const LAST_ERROR_SECURITY = 5;

/** One open PDF. Every call checks what pdfium answers; null and false are answers; a trap inside never leaves this class. */
export class PdfHandle {
  readonly pdfium: WrappedPdfiumModule;
  readonly document: number;
  #bytesAt: number;
  #open = true;
  #broke = false;

  private constructor(pdfium: WrappedPdfiumModule, document: number, bytesAt: number) {
    this.pdfium = pdfium;
    this.document = document;
    this.#bytesAt = bytesAt;
  }

  static async open(bytes: Uint8Array): Promise<PdfOpening> {
    const pdfium = await getPdfium(bytes.length);
    try {
      const bytesAt = pdfium.pdfium.wasmExports.malloc(bytes.length);
      if (bytesAt === 0)
        throw new PagefleetError('local_shortage', 'there is no memory to open the document now');
      heapOf(pdfium).set(bytes, bytesAt);
      const document = pdfium.FPDF_LoadMemDocument64(bytesAt, bytes.length, '');
      if (document !== 0) return { outcome: 'opened', pdf: new PdfHandle(pdfium, document, bytesAt) };
      const lastError = pdfium.FPDF_GetLastError();
      pdfium.pdfium.wasmExports.free(bytesAt);
      if (lastError === LAST_ERROR_PASSWORD || lastError === LAST_ERROR_SECURITY)
        return { outcome: 'encrypted' };
      return { outcome: 'damaged', reason: `pdfium cannot open it (error ${lastError})` };
    } catch (cause) {
      await discardPdfium(pdfium);
      if (cause instanceof PagefleetError) throw cause;
      return { outcome: 'damaged', reason: `pdfium broke on it (${String(cause)})` };
    }
  }

  claimedPageCount(): number {
    return this.#guard(() => this.pdfium.FPDF_GetPageCount(this.document), 0);
  }

  canLoad(index: number): boolean {
    return this.withPage(index, () => true) ?? false;
  }

  /** Null when the page cannot be loaded or `use` traps. */
  withPage<T>(index: number, use: (page: number) => T): T | null {
    return this.#guard(() => {
      const page = this.pdfium.FPDF_LoadPage(this.document, index);
      if (page === 0) return null;
      try {
        return use(page);
      } finally {
        this.pdfium.FPDF_ClosePage(page);
      }
    }, null);
  }

  /** One page as a PDF of its own, without encryption; null when it cannot be taken out. */
  extractPage(index: number): Uint8Array | null {
    return this.#guard(() => {
      const single = this.pdfium.FPDF_CreateNewDocument();
      if (single === 0) return null;
      try {
        // Saving "works" even when nothing was imported and then tells of one page: only these answers count.
        const imported = this.pdfium.FPDF_ImportPages(single, this.document, String(index + 1), 0);
        if (!imported || this.pdfium.FPDF_GetPageCount(single) !== 1) return null;
        return this.#save(single);
      } finally {
        this.pdfium.FPDF_CloseDocument(single);
      }
    }, null);
  }

  /** It asked for more memory than a document may take, so no second reader would get further. */
  get isExhausted(): boolean {
    return this.#broke && hasGrown(this.pdfium);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      this.pdfium.FPDF_CloseDocument(this.document);
      this.pdfium.pdfium.wasmExports.free(this.#bytesAt);
    } catch {
      void discardPdfium(this.pdfium);
    }
  }

  #save(document: number): Uint8Array | null {
    const writer = this.pdfium.PDFiumExt_OpenFileWriter();
    if (writer === 0) return null;
    try {
      if (!this.pdfium.PDFiumExt_SaveAsCopy(document, writer)) return null;
      const size = this.pdfium.PDFiumExt_GetFileWriterSize(writer);
      if (size === 0) return null;
      const at = this.pdfium.pdfium.wasmExports.malloc(size);
      if (at === 0) return null;
      const copied = this.pdfium.PDFiumExt_GetFileWriterData(writer, at, size);
      const bytes = copied === 0 ? null : heapOf(this.pdfium).slice(at, at + size);
      this.pdfium.pdfium.wasmExports.free(at);
      return bytes;
    } finally {
      this.pdfium.PDFiumExt_CloseFileWriter(writer);
    }
  }

  #guard<T>(call: () => T, otherwise: T): T {
    if (!this.#open) return otherwise;
    try {
      return call();
    } catch {
      this.#open = false;
      this.#broke = true;
      void discardPdfium(this.pdfium);
      return otherwise;
    }
  }
}
