import type { OcrBlock, OcrPage, PagefleetError, PageResult } from '@pagefleet/contract';
import type { OcrOptions } from '../read/ocr-options.ts';

/** A page that was read, in Mistral's shape. Its clients refuse corners that are no integers. */
export function toOcrPage(index: number, result: PageResult, options: OcrOptions): OcrPage {
  return {
    index,
    markdown: result.markdown,
    images: [],
    dimensions: { dpi: result.dpi, height: result.height, width: result.width },
    ...(options.blocks ? { blocks: (result.blocks ?? []).map(toBlock) } : {}),
    ...(options.confidence === null || isUnscored(result)
      ? {}
      : { confidence_scores: toScores(result, options.confidence === 'word') }),
    engine: result.engine,
    rotation: result.rotation,
    ...(result.trace === undefined ? {} : { trace: result.trace }),
  };
}

/** A page that failed keeps the shape, so that strict clients can still read the others. */
export function toFailedPage(index: number, error: PagefleetError): OcrPage {
  const { code, message } = error;
  return { index, markdown: '', images: [], dimensions: null, error: { code, message } };
}

function toBlock(block: NonNullable<PageResult['blocks']>[number]): OcrBlock {
  return {
    type: block.kind,
    content: block.text,
    top_left_x: Math.round(block.box.x0),
    top_left_y: Math.round(block.box.y0),
    bottom_right_x: Math.round(block.box.x1),
    bottom_right_y: Math.round(block.box.y1),
  };
}

/** Some engines say nothing about how sure they are; a score of 0 would say that nothing was read. */
function isUnscored({ confidence, markdown }: PageResult): boolean {
  return confidence === null && markdown !== '';
}

/** Scores from 0 to 1; a page on which nothing was read has 0. */
function toScores(result: PageResult, withWords: boolean): NonNullable<OcrPage['confidence_scores']> {
  const words = result.words ?? [];
  const average = toScore(result.confidence ?? 0);
  const minimum = words.length === 0 ? average : toScore(Math.min(...words.map((word) => word.confidence)));
  const scores = { average_page_confidence_score: average, minimum_page_confidence_score: minimum };
  if (!withWords) return scores;
  let from = 0;
  const wordScores = words.map(({ text, confidence }) => {
    const at = result.markdown.indexOf(text, from);
    if (at >= 0) from = at + text.length;
    return { text, confidence: toScore(confidence), start_index: at >= 0 ? at : from };
  });
  return { ...scores, word_confidence_scores: wordScores };
}

function toScore(percent: number): number {
  return Math.round(percent * 100) / 10_000;
}
