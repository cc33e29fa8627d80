import { PageResult } from '@pagefleet/contract';
import fc from 'fast-check';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { parseTsv } from './parse-tsv.ts';
import { toPageResult } from './to-page-result.ts';

const HEADER =
  'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext';

const row = (place: string, confidence: number, text: string) =>
  `5\t1\t${place.replaceAll(' ', '\t')}\t10\t20\t30\t8\t${confidence}\t${text}`;

const BY = { engine: 'test', engineMs: 1 };

function result(rows: readonly string[], asked = {}) {
  const reading = parseTsv([HEADER, ...rows, ''].join('\n'));
  return toPageResult({ reading, width: 100, height: 50, dpi: 200, rotation: 0 }, asked, BY);
}

const TWO_COLUMNS = [
  '2\t1\t1\t0\t0\t0\t10\t20\t30\t8\t-1\t',
  row('1 1 1 1', 90, 'A'),
  row('1 1 1 2', 80.5, 'hy-'),
  row('1 1 2 1', 95, 'phen'),
  row('1 2 1 1', 96, 'next'),
  row('2 1 1 1', 97, 'column'),
];

describe('the TSV of one recognition gives text, words, boxes and confidence', () => {
  test('lines_stay_lines_and_a_blank_line_parts_paragraphs', () => {
    const { text, markdown } = result(TWO_COLUMNS);
    expect(text).toBe('A hy-\nphen\n\nnext\n\ncolumn');
    expect(markdown).toBe(text);
  });

  test('words_and_blocks_come_only_when_asked_for', () => {
    expect(result(TWO_COLUMNS)).not.toHaveProperty('words');
    expect(result(TWO_COLUMNS)).not.toHaveProperty('blocks');
    const { words, blocks } = result(TWO_COLUMNS, { words: true, blocks: true });
    expect(words?.length).toBe(5);
    expect(words?.[1]).toEqual({ text: 'hy-', confidence: 80.5, box: { x0: 10, y0: 20, x1: 40, y1: 28 } });
    expect(blocks?.map((block) => block.text)).toEqual(['A hy-\nphen', 'next', 'column']);
    expect(blocks?.[0]?.box).toEqual({ x0: 10, y0: 20, x1: 40, y1: 28 });
  });

  test('the_result_fits_the_contract', () => {
    const full = result([...TWO_COLUMNS, row('3 1 1 1', 100.4, 'sure')], { words: true, blocks: true });
    expect([...Value.Errors(PageResult, full)]).toEqual([]);
  });

  test('a_page_without_words_is_blank_with_no_confidence', () => {
    expect(result([row('1 1 1 1', 95, ' ')], { words: true })).toMatchObject({
      text: '',
      confidence: null,
      words: [],
    });
    expect(result([])).toMatchObject({ text: '', confidence: null });
  });

  test('the_confidence_is_the_mean_of_the_words', () => {
    expect(result([row('1 1 1 1', 90, 'a'), row('1 1 1 2', 70, 'b')]).confidence).toBe(80);
  });

  test('a_block_number_that_starts_again_with_the_same_line_number_is_another_line', () => {
    expect(result([row('1 1 1 1', 90, 'one'), row('2 1 1 1', 90, 'two')]).text).toBe('one\n\ntwo');
    expect(result([row('1 1 1 1', 90, 'one'), row('1 2 1 1', 90, 'two')]).text).toBe('one\n\ntwo');
  });

  test('no_line_of_any_shape_breaks_it', () => {
    fc.assert(
      fc.property(fc.string(), (tsv) => parseTsv(`5\t1\t1\t1\t1\t1\t${tsv}\n${tsv}`).blocks.length >= 0),
    );
  });
});
