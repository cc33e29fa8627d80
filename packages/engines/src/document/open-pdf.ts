import { PagefleetError } from '@pagefleet/contract';
import { countPageObjects, countPagesInPdf } from './count-pages-in-pdf.ts';
import type { DocumentPage, OpenedDocument } from './open-document.ts';
import { PdfHandle } from './pdf-handle.ts';
import { countPagesWithQpdf, rebuildWithQpdf, repairWithQpdf } from './repair-with-qpdf.ts';

/**
 * pdfium refuses files that others open (a lost startxref, a broken page tree), so a second reader is heard before a file
 * is called dead.
 */
export async function openPdf(bytes: Uint8Array): Promise<OpenedDocument> {
  const first = await tryReader(bytes);
  if (first.outcome === 'readable') return await withoutLostPages(bytes, first);
  if (first.outcome === 'encrypted') throw encrypted();
  if (first.outcome === 'exhausted') throw exhausted();

  const repair = await repairWithQpdf(bytes);
  if (repair.outcome === 'encrypted') throw encrypted();
  const second = repair.outcome === 'repaired' ? await tryReader(repair.bytes) : null;
  if (second?.outcome === 'readable') return pdfDocument(bytes, second, true);
  if (first.outcome === 'empty') throw new PagefleetError('document_without_pages', 'the PDF has no pages');
  const secondReason =
    repair.outcome === 'failed' ? repair.reason : 'what qpdf makes of it cannot be opened either';
  throw new PagefleetError('document_damaged', `the PDF is damaged: ${first.reason}; ${secondReason}`);
}

/** A `/Count` that is too small hides pages from pdfium without a word. */
async function withoutLostPages(bytes: Uint8Array, first: Readable): Promise<OpenedDocument> {
  if (countPageObjects(bytes) > first.pageCount) {
    const walked = await countPagesWithQpdf(bytes);
    const rebuild = walked !== null && walked > first.pageCount ? await rebuildWithQpdf(bytes) : null;
    const second = rebuild?.outcome === 'repaired' ? await tryReader(rebuild.bytes) : null;
    if (second?.outcome === 'readable') {
      first.pdf.close();
      return pdfDocument(bytes, second, true);
    }
  }
  return pdfDocument(bytes, first, false);
}

type Attempt =
  | { readonly outcome: 'readable'; readonly pdf: PdfHandle; readonly pageCount: number }
  | { readonly outcome: 'encrypted' }
  | { readonly outcome: 'empty' }
  | { readonly outcome: 'exhausted' }
  | { readonly outcome: 'damaged'; readonly reason: string };

async function tryReader(bytes: Uint8Array): Promise<Attempt> {
  const opening = await PdfHandle.open(bytes);
  if (opening.outcome !== 'opened') return opening;
  const { pdf } = opening;
  if (pdf.claimedPageCount() === 0) {
    pdf.close();
    return { outcome: 'empty' };
  }
  const pageCount = await countPagesInPdf(pdf, bytes);
  if (pageCount > 0) return { outcome: 'readable', pdf, pageCount };
  if (pdf.isExhausted) return { outcome: 'exhausted' };
  pdf.close();
  return { outcome: 'damaged', reason: 'it claims pages but none of them can be opened' };
}

interface Readable {
  readonly pdf: PdfHandle;
  readonly pageCount: number;
}

function pdfDocument(
  bytes: Uint8Array,
  { pdf, pageCount }: Readable,
  repairedAlready: boolean,
): OpenedDocument {
  let second: Promise<PdfHandle | null> | null = repairedAlready ? Promise.resolve(null) : null;

  async function page(index: number): Promise<DocumentPage> {
    if (!Number.isInteger(index) || index < 0 || index >= pageCount) {
      throw new PagefleetError(
        'page_out_of_range',
        `page ${index + 1} does not exist; the document has ${pageCount}`,
      );
    }
    const extracted = pdf.extractPage(index) ?? (await extractFromSecond(index));
    if (extracted) return { bytes: extracted, kind: 'pdf' };
    throw new PagefleetError(
      'page_unreadable',
      `page ${index + 1} of the PDF is damaged and cannot be taken out of it`,
    );
  }

  async function extractFromSecond(index: number): Promise<Uint8Array | null> {
    if (pdf.isExhausted) return null;
    second ??= openRepaired(bytes);
    return (await second)?.extractPage(index) ?? null;
  }

  return {
    kind: 'pdf',
    pageCount,
    page,
    close() {
      pdf.close();
      void second?.then((handle) => handle?.close());
      second = Promise.resolve(null);
    },
  };
}

async function openRepaired(bytes: Uint8Array): Promise<PdfHandle | null> {
  const repair = await repairWithQpdf(bytes);
  if (repair.outcome !== 'repaired') return null;
  const opening = await PdfHandle.open(repair.bytes);
  return opening.outcome === 'opened' ? opening.pdf : null;
}

function exhausted(): PagefleetError {
  return new PagefleetError('document_damaged', 'the PDF unpacks to more memory than a document may take');
}

function encrypted(): PagefleetError {
  return new PagefleetError(
    'document_encrypted',
    'the PDF is encrypted and needs a password; send it without one',
  );
}
