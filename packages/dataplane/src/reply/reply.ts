import type { OcrPage, PagefleetError } from '@pagefleet/contract';

/** What a document came to, once all its pages are over. */
export interface DocumentEnd {
  readonly model: string;
  readonly pages: number;
  readonly failed: number;
  readonly bytes: number;
  /** the document as a whole, or all of its pages, failed */
  readonly error: PagefleetError | null;
  /** what speaks for the pages that failed */
  readonly pageError: PagefleetError | null;
}

/** How results become an answer. Documents are told by their position in the request, pages by theirs in the selection. */
export interface Reply {
  /** `of`: pages asked for in the document */
  page(document: number, position: number, page: OcrPage, of?: number): void;
  documentEnd(document: number, end: DocumentEnd): void;
  /** All documents have ended. */
  finish(): void;
  /** The request as a whole failed, at any point. */
  fail(error: PagefleetError): void;
}

/** Told in the body whenever a page failed, so that nobody takes a part for the whole. */
export function errorOfDocument(end: DocumentEnd): { code: string; message: string } | null {
  if (end.error) return briefError(end.error);
  if (!end.pageError) return null;
  const { code, message } = end.pageError;
  return {
    code,
    message: `${end.failed} of ${end.pages} pages failed, each with its own error; one: ${message}`,
  };
}

/** A few words for a body; codes are contract, addresses and tokens are never in it. */
export function briefError(error: PagefleetError): { code: string; message: string } {
  return { code: error.code, message: error.message };
}
