import { describe, expect, test } from 'vitest';
import { countPageObjects } from './count-pages-in-pdf.ts';
import { makePdf } from './make-pdf.ts';

describe('page objects that lie open in a PDF', () => {
  test('each_page_counts_and_the_tree_does_not', () => {
    expect(countPageObjects(makePdf({ pages: 3, count: 1 }))).toBe(3);
    expect(countPageObjects(makePdf({ pages: 0 }))).toBe(0);
  });

  test('other_names_that_begin_alike_do_not_count', () => {
    expect(
      countPageObjects(Buffer.from('/Type/Page /Type /Pages /Type /PageLabel /S /Page /Type\n/Page>>')),
    ).toBe(2);
    expect(countPageObjects(Buffer.from('/Type /Page'))).toBe(1);
  });
});
