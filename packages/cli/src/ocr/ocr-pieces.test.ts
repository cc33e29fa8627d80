import type { OcrLine, OcrPage } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFormatter } from './format-pages.ts';
import { readPagesInOrder } from './pages-in-order.ts';
import { parsePages } from './parse-pages.ts';
import { createProgress } from './progress.ts';

const page = (index: number): OcrPage => ({ index, markdown: `p${index}`, images: [], dimensions: null });
const line = (index: number): OcrLine => ({ type: 'page', ...page(index) });

async function collect(lines: OcrLine[]): Promise<number[]> {
  const found: number[] = [];
  async function* come() {
    yield* lines;
  }
  for await (const { index } of readPagesInOrder(come())) found.push(index);
  return found;
}

describe('pages of a document', () => {
  test('leave_in_order_whatever_order_they_come_in_and_none_is_lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat({ max: 50 }), { minLength: 1 }), async (indexes) => {
        const given = await collect(indexes.map(line));
        expect(given).toEqual([...indexes].sort((a, b) => a - b));
      }),
    );
  });

  test('a_document_that_failed_as_a_whole_is_an_error_with_its_code', async () => {
    const failed: OcrLine = {
      type: 'document',
      pages: 0,
      failed: 0,
      error: { code: 'document_encrypted', message: 'needs a password' },
    };
    await expect(collect([failed])).rejects.toMatchObject({ code: 'document_encrypted' });
    expect(
      await collect([line(0), { ...failed, error: { code: 'page_parked', message: '1 of 2' } }]),
    ).toEqual([0]);
  });
});

describe('--pages', () => {
  test.each([
    ['1', '0'],
    ['3', '2'],
    ['1,4-7', '0,3-6'],
    [' 2 , 2-2', '1,1'],
  ])('%s_counts_from_one', (text, expected) => expect(parsePages(text)).toBe(expected));

  test.each(['0', '', '3-1', '1-', 'all', '1,,2', '-3', '1.5'])('"%s"_is_refused', (text) => {
    expect(() => parsePages(text)).toThrow(/--pages/);
  });
});

describe('output', () => {
  test('text_pages_are_parted_by_a_form_feed', () => {
    const text = createFormatter('text', 'a.pdf');
    expect(text.page(page(0)) + text.page(page(1)) + text.end()).toBe('p0\n\fp1\n\f');
  });

  test('json_is_one_document_and_ndjson_one_line_a_page', () => {
    const json = createFormatter('json', 'a.pdf');
    expect(JSON.parse(json.page(page(0)) + json.page(page(1)) + json.end())).toMatchObject({
      document: 'a.pdf',
      pages: [{ index: 0 }, { index: 1 }],
    });
    const lines = createFormatter('ndjson', 'a.pdf');
    expect(JSON.parse(lines.page(page(3)))).toMatchObject({ document: 'a.pdf', index: 3 });
  });
});

describe('the progress bar', () => {
  const drawn = (isTTY: boolean) => {
    const written: string[] = [];
    let nowMs = 0;
    const terminal = { isTTY, columns: 200, write: (text: string) => written.push(text) };
    const progress = createProgress('a.pdf', terminal, () => nowMs);
    nowMs = 2_000;
    progress.page(4, false);
    progress.page(4, true);
    return written;
  };

  test('shows_pages_failures_and_rate_on_a_terminal', () => {
    expect(drawn(true).at(-1)).toContain('████████████░░░░░░░░░░░░  2/4 pages, 1 failed  1.0 pages/s');
  });

  test('writes_nothing_where_there_is_no_terminal', () => expect(drawn(false)).toEqual([]));
});
