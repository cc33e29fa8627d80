import type { BlockKind } from '@pagefleet/contract';

/** Labels of Surya and Chandra (contract 3.1, 3.2), lower case, words joined by one blank. */
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
};

/** What the engines call a block, in Mistral's words; a label that is not known is text. */
export function kindOf(label: string): BlockKind {
  return Object.hasOwn(KINDS, label) ? (KINDS[label] ?? 'text') : 'text';
}

/** The engine says that there is nothing on the page; it is no block. */
export function isBlankPage(label: string): boolean {
  return label === 'blank page';
}
