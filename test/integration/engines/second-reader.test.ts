import { readFileSync } from 'node:fs';
import { openDocument } from '@pagefleet/engines';
import { describe, expect, test } from 'vitest';
import { makePdf, pageObjectNumber } from '../../../packages/engines/src/document/make-pdf.ts';
import { runProgram } from '../../../packages/engines/src/run-program.ts';
import { corpusMissing, corpusPath } from '../../corpus.ts';

const LIMITS = { maxPages: 1000, maxPixels: 40_000_000 };

const qpdf = await runProgram('qpdf', ['--version'], { timeoutMs: 20_000, maxOutputBytes: 10_000 });
const qpdfMissing =
  qpdf.outcome === 'absent' ? 'the program qpdf is absent: install it to run these tests' : null;

async function pagesOf(bytes: Buffer): Promise<string[]> {
  const document = await openDocument(bytes, LIMITS);
  const pages = Array.from({ length: document.pageCount }, (_, index) =>
    document.page(index).then(
      (page) => page.kind,
      (error: { code: string }) => error.code,
    ),
  );
  const answers = await Promise.all(pages);
  document.close();
  return answers;
}

describe.skipIf(qpdfMissing)('a second reader before a PDF is called dead (contract 5.3)', () => {
  test('a_lost_startxref_is_found_again', async () => {
    const bytes = makePdf({ pages: 3 });
    expect(await pagesOf(bytes.subarray(0, bytes.lastIndexOf('startxref')))).toEqual(['pdf', 'pdf', 'pdf']);
  });

  test('a_file_cut_off_in_its_table_gives_the_pages_it_still_has', async () => {
    const bytes = makePdf({ pages: 3 });
    const cut = bytes.subarray(0, bytes.lastIndexOf('xref\n0 ') + 40);
    await expect(pagesOf(cut)).rejects.toMatchObject({ code: 'document_damaged' });
  });

  test.each([2, 5, 8, 1_000_000])('a_count_of_%i_for_one_page_gives_one_page', async (count) => {
    expect(await pagesOf(makePdf({ pages: 1, count }))).toEqual(['pdf']);
  });

  test('a_count_that_hides_pages_is_found_out', async () => {
    expect(await pagesOf(makePdf({ pages: 3, count: 1 }))).toEqual(['pdf', 'pdf', 'pdf']);
  });

  test('a_damaged_last_page_is_named_and_not_lost', async () => {
    const kids = `${pageObjectNumber(0)} 0 R ${pageObjectNumber(1)} 0 R 99 0 R`;
    expect(await pagesOf(makePdf({ pages: 3, kids }))).toEqual(['pdf', 'pdf', 'page_unreadable']);
  });

  test.skipIf(corpusMissing)('no_reader_at_all_is_told_with_both_reasons', async () => {
    await expect(
      openDocument(readFileSync(corpusPath('damaged', 'invalid.pdf')), LIMITS),
    ).rejects.toMatchObject({
      code: 'document_damaged',
      message: 'the PDF is damaged: pdfium cannot open it (error 3); qpdf cannot repair it',
    });
  });

  test.skipIf(corpusMissing)(
    'random_bytes_changed_in_a_real_document_cost_no_more_than_the_pages_they_hit',
    async () => {
      const bytes = Buffer.from(readFileSync(corpusPath('documents', 'tracemonkey-scanned.pdf')));
      let seed = 7;
      for (let change = 0; change < 400; change += 1) {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        bytes[1024 + (seed % (bytes.length - 2048))] = change % 256;
      }
      const pages = await pagesOf(bytes);
      expect(pages).toHaveLength(14);
      expect(pages.filter((answer) => answer === 'pdf').length).toBeGreaterThanOrEqual(12);
    },
  );
});
