import type { Block } from '@pagefleet/contract';
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** A piece of a page as the engines write it: `<div data-label="…" data-bbox="x0 y0 x1 y1">…</div>`. */
export interface HtmlBlock {
  /** lower case, words joined by one blank; empty: it stands outside of any block */
  readonly label: string;
  /** in the engine's own units; null: it has none that makes sense */
  readonly box: { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number } | null;
  readonly html: string;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
}

/** No page nests deeper; what does is an engine that has lost itself, and would break whoever walks through it. */
const MAX_DEPTH = 100;

/**
 * The blocks of a reply, in its order; null: it has none. Text that stands outside of any block is one of its own; a block
 * inside of another, as when an end tag is missing, comes after it.
 */
export function parseHtmlBlocks(reply: string): readonly HtmlBlock[] | null {
  const { childNodes } = parseFragment(withoutFence(reply));
  if (isDeeperThan(childNodes, MAX_DEPTH)) return null;
  const blocks = childNodes.flatMap(blocksOf);
  return blocks.some(({ label }) => label !== '') ? blocks : null;
}

function blocksOf(node: Node): HtmlBlock[] {
  if (!('tagName' in node)) {
    const text = 'value' in node ? node.value.trim() : '';
    return text === '' ? [] : [{ label: '', box: null, html: escapeText(text) }];
  }
  const label = attributeOf(node, 'label');
  if (label === null) {
    if (hasBlock(node)) return node.childNodes.flatMap(blocksOf);
    return [{ label: '', box: null, html: outerHtml(node) }];
  }
  const inner = node.childNodes.filter(isBlock);
  node.childNodes = node.childNodes.filter((child) => !isBlock(child));
  const own: HtmlBlock = {
    label: label
      .toLowerCase()
      .replace(/[-_\s]+/g, ' ')
      .trim(),
    box: parseBox(attributeOf(node, 'bbox') ?? ''),
    html: serialize(node).trim(),
  };
  return [own, ...inner.flatMap(blocksOf)];
}

function isBlock(node: Node): boolean {
  return 'tagName' in node && node.tagName === 'div' && attributeOf(node, 'label') !== null;
}

function hasBlock(node: Node): boolean {
  return 'childNodes' in node && node.childNodes.some((child) => isBlock(child) || hasBlock(child));
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

/** Models put a fence around what they were asked to write as HTML, and a word of politeness before it. */
function withoutFence(reply: string): string {
  const fenced = /^[^<]{0,200}```(?:html)?[ \t]*\n([\s\S]*?)(?:\n```\s*)?$/.exec(reply.trim());
  return fenced?.[1] ?? reply;
}

function isDeeperThan(nodes: readonly Node[], limit: number): boolean {
  let level = nodes;
  for (let depth = 0; depth <= limit; depth += 1) {
    level = level.flatMap((node) => ('childNodes' in node ? node.childNodes : []));
    if (level.length === 0) return false;
  }
  return true;
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
