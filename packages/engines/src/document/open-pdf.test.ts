import { PagefleetError } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { OWNER_PASSWORD_PDF, USER_PASSWORD_PDF } from './encrypted-pdf-fixture.ts';
import { BLACK_QUARTER, makePdf, pageObjectNumber } from './make-pdf.ts';
import { openDocument } from './open-document.ts';

const LIMITS = { maxPages: 1000, maxPixels: 40_000_000 };

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (cause: unknown) => cause,
  );
  return error instanceof PagefleetError ? error.code : `no PagefleetError but ${String(error)}`;
}

describe('splitting a PDF (contract 5.3: odd files)', () => {
  test('every_page_comes_as_a_pdf_of_one_page', async () => {
    const document = await openDocument(makePdf({ pages: 3, content: BLACK_QUARTER }), LIMITS);
    expect(document.kind).toBe('pdf');
    expect(document.pageCount).toBe(3);
    for (const index of [0, 1, 2]) {
      const page = await document.page(index);
      const single = await openDocument(page.bytes, LIMITS);
      expect(single.pageCount).toBe(1);
      single.close();
    }
    document.close();
  });

  test('a_page_that_does_not_exist_is_refused_by_its_number', async () => {
    const document = await openDocument(makePdf({ pages: 3 }), LIMITS);
    await expect(document.page(6)).rejects.toMatchObject({
      code: 'page_out_of_range',
      message: 'page 7 does not exist; the document has 3',
    });
    expect(await codeOf(document.page(-1))).toBe('page_out_of_range');
    expect(await codeOf(document.page(0.5))).toBe('page_out_of_range');
    document.close();
  });

  test('a_user_password_is_told_as_encryption', async () => {
    expect(await codeOf(openDocument(USER_PASSWORD_PDF, LIMITS))).toBe('document_encrypted');
  });

  test('an_owner_password_keeps_nobody_from_reading_and_its_pages_are_not_encrypted', async () => {
    const document = await openDocument(OWNER_PASSWORD_PDF, LIMITS);
    const page = await document.page(0);
    expect(Buffer.from(page.bytes).includes('/Encrypt')).toBe(false);
    document.close();
  });

  test('junk_before_the_header_does_no_harm', async () => {
    const junk = Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), makePdf({ pages: 2 })]);
    const document = await openDocument(junk, LIMITS);
    expect(document.pageCount).toBe(2);
    document.close();
  });

  test('a_pdf_without_pages_is_told_as_such', async () => {
    expect(await codeOf(openDocument(makePdf({ pages: 0 }), LIMITS))).toBe('document_without_pages');
  });

  test.each([1_000_000, 5])('a_count_of_%i_for_one_page_is_not_believed', async (count) => {
    const document = await openDocument(makePdf({ pages: 1, count }), LIMITS);
    // Without the second reader a small gap is taken for damaged pages, which are then named one by one.
    expect([1, count <= 8 ? count : 1]).toContain(document.pageCount);
    expect((await document.page(0)).bytes.length).toBeGreaterThan(100);
    document.close();
  });

  test('a_page_tree_that_loops_ends_as_damaged', async () => {
    const loop = makePdf({ pages: 0, count: 2, kids: '2 0 R 2 0 R' });
    expect(await codeOf(openDocument(loop, LIMITS))).toBe('document_damaged');
  });

  test('a_missing_page_in_the_middle_is_named_and_the_others_still_come', async () => {
    const kids = `${pageObjectNumber(0)} 0 R 99 0 R ${pageObjectNumber(2)} 0 R`;
    const document = await openDocument(makePdf({ pages: 3, kids, content: BLACK_QUARTER }), LIMITS);
    expect(document.pageCount).toBe(3);
    await expect(document.page(1)).rejects.toMatchObject({ code: 'page_unreadable', message: /page 2/ });
    expect((await document.page(0)).kind).toBe('pdf');
    expect((await document.page(2)).kind).toBe('pdf');
    document.close();
  });

  test('more_pages_than_the_limit_are_refused_with_both_numbers', async () => {
    await expect(openDocument(makePdf({ pages: 4 }), { ...LIMITS, maxPages: 3 })).rejects.toMatchObject({
      code: 'document_too_many_pages',
      details: { pages: 4, max_pages: 3 },
    });
  });

  test.each([
    ['empty_body', Buffer.alloc(0)],
    ['unsupported_media_type', Buffer.from('<html><body>not found</body></html>')],
    ['unsupported_media_type', Buffer.from('just words')],
    ['document_damaged', Buffer.from('%PDF-1.7\nnothing of the kind\n%%EOF')],
  ])('%s_is_the_answer_to_what_is_no_document', async (code, bytes) => {
    expect(await codeOf(openDocument(bytes, LIMITS))).toBe(code);
  });

  test('the_same_document_can_be_open_twice_at_once', async () => {
    const bytes = makePdf({ pages: 2, content: BLACK_QUARTER });
    const [one, two] = await Promise.all([openDocument(bytes, LIMITS), openDocument(bytes, LIMITS)]);
    one.close();
    expect((await two.page(1)).kind).toBe('pdf');
    two.close();
    expect(await codeOf(two.page(1))).toBe('page_unreadable');
  });
});
