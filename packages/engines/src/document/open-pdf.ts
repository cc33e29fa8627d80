import { PagefleetError } from '@pagefleet/contract';
import { countPagesInPdf } from './count-pages-in-pdf.ts';
import type { DocumentPage, OpenedDocument } from './open-document.ts';
import { PdfHandle } from './pdf-handle.ts';
import { repairWithQpdf } from './repair-with-qpdf.ts';

export async function openPdf(bytes: Uint8Array): Promise<OpenedDocument> {
  const { pdf, secondReader } = await openWithEitherReader(bytes);
  const counted = await countPagesInPdf(pdf, bytes);
  if (counted === 0) {
    pdf.close();
    throw new PagefleetError('document_damaged', 'the PDF claims pages but none of them can be opened');
  }
  return pdfDocument(bytes, pdf, counted, secondReader);
}

function pdfDocument(
  bytes: Uint8Array,
  pdf: PdfHandle,
  pageCount: number,
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

/** pdfium refuses files that others open (a lost startxref), so a second reader is heard before a file is called dead. */
async function openWithEitherReader(bytes: Uint8Array): Promise<{ pdf: PdfHandle; secondReader: boolean }> {
  const first = await PdfHandle.open(bytes);
  if (first.outcome === 'encrypted') throw encrypted();
  if (first.outcome === 'opened') {
    if (first.pdf.claimedPageCount() > 0) return { pdf: first.pdf, secondReader: false };
    first.pdf.close();
  }
  const repair = await repairWithQpdf(bytes);
  if (repair.outcome === 'encrypted') throw encrypted();
  const second = repair.outcome === 'repaired' ? await PdfHandle.open(repair.bytes) : null;
  if (second?.outcome === 'opened') {
    if (second.pdf.claimedPageCount() > 0) return { pdf: second.pdf, secondReader: true };
    second.pdf.close();
  }
  if (first.outcome === 'opened') throw new PagefleetError('document_without_pages', 'the PDF has no pages');
  const secondReason =
    repair.outcome === 'failed' ? repair.reason : 'what qpdf makes of it cannot be opened either';
  throw new PagefleetError('document_damaged', `the PDF is damaged: ${first.reason}; ${secondReason}`);
}

async function openRepaired(bytes: Uint8Array): Promise<PdfHandle | null> {
  const repair = await repairWithQpdf(bytes);
  if (repair.outcome !== 'repaired') return null;
  const opening = await PdfHandle.open(repair.bytes);
  return opening.outcome === 'opened' ? opening.pdf : null;
}

function encrypted(): PagefleetError {
  return new PagefleetError(
    'document_encrypted',
    'the PDF is encrypted and needs a password; send it without one',
  );
}
