import type { Block, PageResult, Word } from '@pagefleet/contract';
import type { ReadBlock, Reading, ReadParagraph } from './parse-tsv.ts';

export interface ReadPicture {
  readonly reading: Reading;
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
  readonly rotation: PageResult['rotation'];
}

export function toPageResult(
  read: ReadPicture,
  asked: { readonly words?: boolean | undefined; readonly blocks?: boolean | undefined },
  by: { readonly engine: string; readonly engineMs: number },
): PageResult {
  const text = textOf(read.reading);
  const words = wordsOf(read.reading);
  return {
    text,
    markdown: text,
    confidence: meanConfidence(words),
    width: read.width,
    height: read.height,
    dpi: read.dpi,
    rotation: read.rotation,
    ...(asked.blocks
      ? { blocks: read.reading.blocks.flatMap((block) => block.paragraphs.map(toBlock)) }
      : {}),
    ...(asked.words ? { words } : {}),
    ...by,
  };
}

/** Lines as printed, hyphens at their ends kept; a blank line between paragraphs. */
function textOf(reading: Reading): string {
  return reading.blocks.flatMap((block: ReadBlock) => block.paragraphs.map(textOfParagraph)).join('\n\n');
}

function textOfParagraph(paragraph: ReadParagraph): string {
  return paragraph.lines.map((line) => line.map((word) => word.text).join(' ')).join('\n');
}

export function wordsOf(reading: Reading): Word[] {
  return reading.blocks.flatMap((block) => block.paragraphs.flatMap((paragraph) => paragraph.lines.flat()));
}

/** null when there is no word: a blank page is read well, not badly. */
export function meanConfidence(words: readonly Word[]): number | null {
  if (words.length === 0) return null;
  return words.reduce((sum, word) => sum + word.confidence, 0) / words.length;
}

function toBlock(paragraph: ReadParagraph): Block {
  const words = paragraph.lines.flat();
  return {
    kind: 'text',
    text: textOfParagraph(paragraph),
    box: {
      x0: Math.min(...words.map((word) => word.box.x0)),
      y0: Math.min(...words.map((word) => word.box.y0)),
      x1: Math.max(...words.map((word) => word.box.x1)),
      y1: Math.max(...words.map((word) => word.box.y1)),
    },
    confidence: meanConfidence(words),
  };
}
