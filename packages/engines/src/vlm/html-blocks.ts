import type { Block, BlockKind } from '@pagefleet/contract';
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** A piece of a page as the engines write it: `<div data-label="…" data-bbox="x0 y0 x1 y1">…</div>`. */
export interface HtmlBlock {
  /** lower case, words joined by one blank */
  readonly label: string;
  /** in the engine's own units; null: it has none that makes sense */
  readonly box: { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number } | null;
  readonly html: string;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
}

/** The blocks of a reply, in its order; null: it has none. Text that stands outside of any block is one of its own. */
export function parseHtmlBlocks(reply: string): readonly HtmlBlock[] | null {
  const blocks = parseFragment(withoutFence(reply)).childNodes.flatMap(blockOf);
  return blocks.some(({ label }) => label !== '') ? blocks : null;
}

function blockOf(node: Node): HtmlBlock[] {
  if (!('tagName' in node)) {
    const text = 'value' in node ? node.value.trim() : '';
    return text === '' ? [] : [{ label: '', box: null, html: escapeText(text) }];
  }
  const label = attributeOf(node, 'label');
  if (label === null) return [{ label: '', box: null, html: outerHtml(node) }];
  const box = parseBox(attributeOf(node, 'bbox') ?? '');
  return [
    {
      label: label
        .toLowerCase()
        .replace(/[-_\s]+/g, ' ')
        .trim(),
      box,
      html: serialize(node).trim(),
    },
  ];
}

/** `data-label` and `label` are the same to us: releases differ. */
function attributeOf({ attrs }: Element, name: string): string | null {
  return (
    attrs.find((attribute) => attribute.name === `data-${name}` || attribute.name === name)?.value ?? null
  );
}

function parseBox(text: string): HtmlBlock['box'] {
  const numbers = (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = numbers;
  return numbers.length === 4 && x1 > x0 && y1 > y0 ? { x0, y0, x1, y1 } : null;
}

function outerHtml(element: Element): string {
  return `<${element.tagName}>${serialize(element)}</${element.tagName}>`;
}

function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** Models put a fence around what they were asked to write as HTML. */
function withoutFence(reply: string): string {
  return reply
    .trim()
    .replace(/^```(?:html)?\s*\n/, '')
    .replace(/\n```$/, '');
}

/** From the engine's grid to pixels of the picture, inside it; a box that makes no sense is the whole picture's. */
export function toPixels(box: HtmlBlock['box'], grid: number, { width, height }: Picture): Block['box'] {
  if (box === null) return { x0: 0, y0: 0, x1: width, y1: height };
  const scale = (value: number, side: number): number =>
    Math.min(side, Math.max(0, Math.round((value * side) / grid)));
  return {
    x0: scale(box.x0, width),
    y0: scale(box.y0, height),
    x1: scale(box.x1, width),
    y1: scale(box.y1, height),
  };
}

const KINDS: Readonly<Record<string, BlockKind>> = {
  text: 'text',
  caption: 'caption',
  footnote: 'text',
  equation: 'equation',
  'equation block': 'equation',
  formula: 'equation',
  chemical: 'equation',
  'chemical block': 'equation',
  list: 'list',
  'list group': 'list',
  'list item': 'list',
  'page header': 'header',
  'page footer': 'footer',
  image: 'image',
  picture: 'image',
  figure: 'image',
  diagram: 'image',
  'section header': 'title',
  title: 'title',
  table: 'table',
  'table of contents': 'table',
  contents: 'table',
  'complex block': 'text',
  complex: 'text',
  code: 'code',
  'code block': 'code',
  form: 'table',
  bibliography: 'references',
  'blank page': 'text',
};

/** What the engines call a block, in Mistral's words; a label that is not known is text. */
export function kindOf(label: string): BlockKind {
  return KINDS[label] ?? 'text';
}
