/** How the models of a name write a page. */
export type ReplyShape = 'surya' | 'chandra' | 'olmocr' | 'plain';

/** Units of the boxes that a model writes (contract 3.1, 3.2). */
const GRIDS = { surya: 1_000, chandra: 1_024 } as const;

export function shapeOf(modelNames: readonly string[]): ReplyShape {
  const names = modelNames.join(' ').toLowerCase();
  return (['surya', 'chandra', 'olmocr'] as const).find((name) => names.includes(name)) ?? 'plain';
}

/** A page in its model's own form: divs with label and box, or a front matter and Markdown. */
export function writePage(text: string, shape: ReplyShape): string {
  if (shape === 'plain') return text;
  if (shape === 'olmocr') return `${frontMatter(0)}\n${text}`;
  const paragraphs = text.split(/\n\s*\n/).filter((paragraph) => paragraph.trim() !== '');
  const grid = GRIDS[shape];
  const height = Math.max(1, Math.floor((grid * 0.9) / Math.max(1, paragraphs.length)));
  return paragraphs
    .map((paragraph, at) => {
      const top = Math.min(grid - 1, Math.floor(grid * 0.05) + at * height);
      const box = [Math.floor(grid * 0.08), top, Math.floor(grid * 0.92), Math.min(grid, top + height)];
      return `<div data-label="Text" data-bbox="${box.join(' ')}"><p>${asHtml(paragraph)}</p></div>`;
    })
    .join('\n');
}

/** What olmOCR says of a page that lies on its side; its text is none. */
export function writeTurnedPage(correction: 90 | 180 | 270): string {
  return `${frontMatter(correction)}\n`;
}

function frontMatter(correction: 0 | 90 | 180 | 270): string {
  return [
    '---',
    'primary_language: en',
    `is_rotation_valid: ${correction === 0 ? 'True' : 'False'}`,
    `rotation_correction: ${correction}`,
    'is_table: False',
    'is_diagram: False',
    '---',
  ].join('\n');
}

function asHtml(paragraph: string): string {
  return paragraph
    .trim()
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\s*\n/g, '<br/>');
}
