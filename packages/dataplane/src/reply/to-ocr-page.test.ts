import { PagefleetError, type PageResult } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import type { OcrOptions } from '../read/ocr-options.ts';
import { toFailedPage, toOcrPage } from './to-ocr-page.ts';

const PLAIN: OcrOptions = {
  model: null,
  pages: null,
  languages: null,
  blocks: false,
  confidence: null,
  requireFleet: false,
};
const RESULT: PageResult = {
  text: 'to be or not to be',
  markdown: 'to be or not to be',
  confidence: 91.234,
  width: 10,
  height: 20,
  dpi: 200,
  rotation: 90,
  engine: 'sleep',
  engineMs: 5,
  words: ['to', 'be', 'or', 'not', 'to', 'be'].map((text, n) => ({
    text,
    confidence: 90 + n,
    box: { x0: 0, y0: 0, x1: 1, y1: 1 },
  })),
};

describe('a page in Mistral’s shape', () => {
  test('has_what_strict_clients_need_and_names_its_engine', () => {
    expect(toOcrPage(3, RESULT, PLAIN)).toEqual({
      index: 3,
      markdown: RESULT.markdown,
      images: [],
      dimensions: { dpi: 200, height: 20, width: 10 },
      engine: 'sleep',
      rotation: 90,
    });
  });

  test('has_blocks_only_when_asked_and_then_always', () => {
    expect(toOcrPage(0, RESULT, { ...PLAIN, blocks: true }).blocks).toEqual([]);
  });

  test('finds_each_word_where_it_stands', () => {
    const page = toOcrPage(0, RESULT, { ...PLAIN, confidence: 'word' });
    expect(page.confidence_scores?.average_page_confidence_score).toBe(0.9123);
    expect(page.confidence_scores?.minimum_page_confidence_score).toBe(0.9);
    expect(page.confidence_scores?.word_confidence_scores?.map(({ start_index }) => start_index)).toEqual([
      0, 3, 6, 9, 13, 16,
    ]);
  });

  test('that_is_blank_has_a_score_all_the_same', () => {
    const blank = { ...RESULT, text: '', markdown: '', confidence: null, words: [] };
    expect(toOcrPage(0, blank, { ...PLAIN, confidence: 'page' }).confidence_scores).toEqual({
      average_page_confidence_score: 0,
      minimum_page_confidence_score: 0,
    });
  });

  test('of_an_engine_that_gives_no_confidence_has_no_score', () => {
    const unsure = { ...RESULT, confidence: null, words: [] };
    expect(toOcrPage(0, unsure, { ...PLAIN, confidence: 'page' })).not.toHaveProperty('confidence_scores');
  });

  test('that_failed_keeps_the_shape_and_says_why', () => {
    expect(
      toFailedPage(2, new PagefleetError('page_parked', 'twice', { details: { attempts: ['x'] } })),
    ).toEqual({
      index: 2,
      markdown: '',
      images: [],
      dimensions: null,
      error: { code: 'page_parked', message: 'twice' },
    });
  });
});
