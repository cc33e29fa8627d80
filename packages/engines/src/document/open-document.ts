import { PagefleetError } from '@pagefleet/contract';
import type { PageKind } from '../port.ts';
import { openImage } from './open-image.ts';
import { openPdf } from './open-pdf.ts';
import { sniffKind } from './sniff-kind.ts';

export interface DocumentLimits {
  readonly maxPages: number;
  /** A picture of more than four times as many pixels is refused; pages are drawn with at most this many. */
  readonly maxPixels: number;
}

export interface DocumentPage {
  readonly bytes: Uint8Array;
  readonly kind: PageKind;
}

export interface OpenedDocument {
  readonly kind: PageKind;
  readonly pageCount: number;
  /** `index` is 0-based. Rejects with `page_unreadable` or `page_too_large` for this page alone. */
  page(index: number): Promise<DocumentPage>;
  close(): void;
}

/**
 * Opens a document by its content, whatever it was called. pdfium runs on the calling thread, which therefore must not
 * be one that serves requests. Rejects with `empty_body`, `unsupported_media_type`, `document_encrypted`,
 * `document_damaged`, `document_without_pages`, `document_too_many_pages`, `page_too_large` or `local_shortage`.
 */
export async function openDocument(bytes: Uint8Array, limits: DocumentLimits): Promise<OpenedDocument> {
  if (bytes.length === 0) throw new PagefleetError('empty_body', 'the document has no bytes');
  const kind = sniffKind(bytes.subarray(0, 2048));
  if (!kind) {
    throw new PagefleetError(
      'unsupported_media_type',
      'the document is no PDF, PNG, JPEG, TIFF or WebP by its content',
    );
  }
  const document = kind === 'pdf' ? await openPdf(bytes) : await openImage(bytes, kind, limits);
  if (document.pageCount > limits.maxPages) {
    document.close();
    throw new PagefleetError(
      'document_too_many_pages',
      `the document has ${document.pageCount} pages; the limit is ${limits.maxPages}`,
      { details: { pages: document.pageCount, max_pages: limits.maxPages } },
    );
  }
  return document;
}
