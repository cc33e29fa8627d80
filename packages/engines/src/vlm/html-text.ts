import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;

const LINES = new Set(
  'p div section tr ul ol li dl dt dd h1 h2 h3 h4 h5 h6 pre table blockquote figure hr'.split(' '),
);
const CELLS = new Set(['td', 'th']);
const SILENT = new Set(['script', 'style', 'template']);

/** What a block says, without any marks: a line for a row or paragraph, a tab between cells. */
export function toPlainText(html: string): string {
  const text = parseFragment(html).childNodes.reduce((said, node) => say(said, node, false), '');
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '');
}

/** `said`, and behind it what the node says. */
function say(said: string, node: Node, isPre: boolean): string {
  if ('value' in node) return said + (isPre ? node.value : joined(said, node.value));
  if (!('tagName' in node) || SILENT.has(node.tagName)) return said;
  if (node.tagName === 'br') return `${said}\n`;
  if (node.tagName === 'input') return said + boxOf(node);
  const inPre = isPre || node.tagName === 'pre';
  const sayInside = (before: string): string =>
    node.childNodes.reduce((text, child) => say(text, child, inPre), before);
  if (CELLS.has(node.tagName)) return `${said}${sayInside('').replace(/\s+/g, ' ').trim()}\t`;
  return LINES.has(node.tagName) ? ended(sayInside(ended(said))) : sayInside(said);
}

/** White space runs together, and there is none at the beginning of a line. */
function joined(said: string, value: string): string {
  const text = value.replace(/\s+/g, ' ');
  return said === '' || /\s$/.test(said) ? text.trimStart() : text;
}

function ended(said: string): string {
  return said === '' || said.endsWith('\n') ? said : `${said}\n`;
}

/** A box that can be ticked; other inputs hold nothing that a page says. */
function boxOf({ attrs }: Pick<DefaultTreeAdapterTypes.Element, 'attrs'>): string {
  const isBox = attrs.some(({ name, value }) => name === 'type' && /^(checkbox|radio)$/i.test(value));
  if (!isBox) return '';
  return attrs.some(({ name }) => name === 'checked') ? '☑' : '☐';
}
