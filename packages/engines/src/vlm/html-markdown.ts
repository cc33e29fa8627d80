import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import TurndownService from 'turndown';

type Node = DefaultTreeAdapterTypes.ChildNode;

/** Tables stay HTML, as the engines' own clients leave them: merged cells have no form in Markdown. */
const KEPT = ['table', 'sup', 'sub', 'u'] as const;

const service = createService();

/** HTML of one block as Markdown. Formulas come out between dollar signs; what the page says is never escaped. */
export function toMarkdown(html: string): string {
  return service.turndown(html).trim();
}

function createService(): TurndownService {
  const made = new TurndownService({
    headingStyle: 'atx',
    hr: '---',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
  });
  made.escape = (text) => text;
  made.keep([...KEPT]);
  made.addRule('math', {
    filter: (node) => node.nodeName.toLowerCase() === 'math',
    replacement(content, node) {
      const isBlock = 'getAttribute' in node && node.getAttribute('display') === 'block';
      const formula = (node.textContent ?? content).trim();
      return isBlock ? `\n\n$$${formula}$$\n\n` : `$${formula}$`;
    },
  });
  return made;
}

const ENDS_A_LINE = new Set([
  'p',
  'div',
  'br',
  'tr',
  'li',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'pre',
  'table',
]);

/** What a block says, without any marks: a line for a row or paragraph, a tab between cells. */
export function toPlainText(html: string): string {
  const lines = parseFragment(html).childNodes.map(textOf).join('').split('\n');
  return lines
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function textOf(node: Node): string {
  if ('value' in node) return node.value.replace(/\s+/g, ' ');
  if (!('childNodes' in node)) return '';
  const inside = node.childNodes.map(textOf).join('');
  if (node.nodeName === 'td' || node.nodeName === 'th') return `${inside.trim()}\t`;
  return ENDS_A_LINE.has(node.nodeName) ? `${inside}\n` : inside;
}
