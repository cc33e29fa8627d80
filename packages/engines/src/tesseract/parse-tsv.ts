import type { Word } from '@pagefleet/contract';

/** What one recognition found, in reading order: blocks > paragraphs > lines > words. */
export interface Reading {
  readonly blocks: readonly ReadBlock[];
}

export interface ReadBlock {
  readonly paragraphs: readonly ReadParagraph[];
}

export interface ReadParagraph {
  readonly lines: readonly (readonly Word[])[];
}

const WORD_LEVEL = '5';

/** Tesseract's TSV: level, page, block, paragraph, line, word, left, top, width, height, confidence, text. */
export function parseTsv(tsv: string): Reading {
  const blocks: { paragraphs: { lines: Word[][] }[] }[] = [];
  let place = '';
  for (const row of tsv.split('\n')) {
    const cells = row.split('\t');
    const [level, , block, paragraph, line] = cells;
    const word = level === WORD_LEVEL ? parseWord(cells) : null;
    if (!word) continue;
    const [lastBlock, lastParagraph, lastLine] = place.split(' ');
    place = `${block} ${paragraph} ${line}`;
    const sameBlock = block === lastBlock;
    const sameParagraph = sameBlock && paragraph === lastParagraph;
    if (!sameBlock) blocks.push({ paragraphs: [] });
    if (!sameParagraph) blocks.at(-1)?.paragraphs.push({ lines: [] });
    if (!sameParagraph || line !== lastLine) blocks.at(-1)?.paragraphs.at(-1)?.lines.push([]);
    blocks.at(-1)?.paragraphs.at(-1)?.lines.at(-1)?.push(word);
  }
  return { blocks };
}

function parseWord(cells: readonly string[]): Word | null {
  const [x0, y0, width, height, confidence] = cells.slice(6, 11).map(Number);
  const text = cells.slice(11).join('\t').trim();
  if (x0 === undefined || y0 === undefined || width === undefined || height === undefined) return null;
  if (confidence === undefined || !(confidence >= 0) || text === '') return null;
  return { text, confidence: Math.min(100, confidence), box: { x0, y0, x1: x0 + width, y1: y0 + height } };
}
