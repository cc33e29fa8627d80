import type { Block } from '@pagefleet/contract';
import { isBlankPage, kindOf } from '../vlm/block-kinds.ts';
import { type HtmlBlock, parseHtmlBlocks, toPixels } from '../vlm/html-blocks.ts';
import { toMarkdown } from '../vlm/html-markdown.ts';
import { toPlainText } from '../vlm/html-text.ts';
import type { ParsedReply, ParseReply } from './profile-parser.ts';

export interface HtmlPageOptions {
  /** the engine's boxes run from 0 to this */
  readonly grid: number;
  /** applied to what the page says */
  readonly repair?: (html: string) => string;
}

/** Running heads and feet are told as blocks and are no part of the text that runs from page to page. */
const NOT_IN_THE_TEXT = new Set(['header', 'footer']);

/** Reads pages of which every block is a `div` with a label and a place. */
export function parseHtmlPage({ grid, repair = (html) => html }: HtmlPageOptions): ParseReply {
  return (reply, picture): ParsedReply => {
    const found = parseHtmlBlocks(reply);
    if (found === null) return { kind: 'invalid', why: 'it has no block with a label' };
    const read = found
      .filter(({ label }) => !isBlankPage(label))
      .map((block) => readBlock({ ...block, html: repair(block.html) }));
    const inText = read.filter(({ kind }) => !NOT_IN_THE_TEXT.has(kind));
    return {
      kind: 'page',
      markdown: join(inText.map(({ markdown }) => markdown)),
      text: join(inText.map(({ text }) => text)),
      blocks: read.map(({ kind, text, box }) => ({
        ...{ kind, text, confidence: null },
        box: toPixels(box, grid, picture),
      })),
    };
  };
}

function readBlock(block: HtmlBlock): Pick<Block, 'kind' | 'text'> & {
  readonly markdown: string;
  readonly box: HtmlBlock['box'];
} {
  const kind = kindOf(block.label);
  const html = kind === 'code' ? asListing(block.html) : block.html;
  const text = toPlainText(html);
  return { kind, text, box: block.box, markdown: kind === 'title' ? asTitle(html) : toMarkdown(html) };
}

/** A title is one line; without a heading inside it is one of the second level, as in the engines' own output. */
function asTitle(html: string): string {
  const title = toMarkdown(html).replace(/\s*\n\s*/g, ' ');
  return title === '' || /<h[1-6]\b/i.test(html) ? title : `## ${title}`;
}

/** The lines of a listing are its own, also where the engine forgets to say so. */
function asListing(html: string): string {
  if (/<(?:pre|p|div|ul|ol|table)\b/i.test(html)) return html;
  return `<pre>${html.replace(/<br\s*\/?>\n?/gi, '\n')}</pre>`;
}

function join(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
