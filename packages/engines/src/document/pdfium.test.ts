import { afterEach, describe, expect, test } from 'vitest';
import { makePdf } from './make-pdf.ts';
import { PdfHandle } from './pdf-handle.ts';
import { discardPdfium, getPdfium, heapOf } from './pdfium.ts';

const GIB = 1024 ** 3;

afterEach(async () => discardPdfium(await getPdfium()));

/** Two kilobytes of a stream that is packed twice unpack to a gigabyte, in every thread that meets them. */
describe('the memory of a document (issue 2: a decompression bomb)', () => {
  test('does_not_grow_to_what_a_bomb_asks_for_and_the_next_document_is_opened', async () => {
    const pdfium = await getPdfium(2_000);
    expect(pdfium.pdfium.wasmExports.malloc(GIB)).toBe(0);
    expect(heapOf(pdfium).byteLength).toBeLessThan(GIB);
    expect(await PdfHandle.open(makePdf({ pages: 1 }))).toMatchObject({ outcome: 'opened' });
  });

  test('grows_with_the_document_that_is_held_in_it', async () => {
    const pdfium = await getPdfium(GIB / 4);
    expect(pdfium.pdfium.wasmExports.malloc(GIB)).not.toBe(0);
  });
});
