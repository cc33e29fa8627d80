import TurndownService from 'turndown';

/** Tables stay HTML, as the engines' own clients leave them: merged cells have no form in Markdown. */
const KEPT = ['table', 'sup', 'sub', 'u', 'del'] as const;

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
  made.remove(['script', 'style']);
  made.addRule('math', {
    filter: (node) => node.nodeName.toLowerCase() === 'math',
    replacement(content, node) {
      const isBlock = attributeOf(node, 'display') === 'block';
      const formula = (node.textContent ?? content).trim();
      return isBlock ? `\n\n$$${formula}$$\n\n` : `$${formula}$`;
    },
  });
  made.addRule('listing', {
    filter: (node) => node.nodeName === 'PRE' && node.firstChild?.nodeName !== 'CODE',
    replacement: (content, node) => fenced((node.textContent ?? content).replace(/^\n+|\n+$/g, '')),
  });
  made.addRule('box', {
    filter: (node) =>
      node.nodeName === 'INPUT' && /^(checkbox|radio)$/i.test(attributeOf(node, 'type') ?? ''),
    replacement: (_, node) => (attributeOf(node, 'checked') === null ? '☐' : '☑'),
  });
  // The engines describe pictures; where one would be found they do not know.
  made.addRule('picture', {
    filter: 'img',
    replacement(_, node) {
      const description = (attributeOf(node, 'alt') ?? '').replace(/\s+/g, ' ').trim();
      return description === '' ? '' : `![${description}](${attributeOf(node, 'src') ?? ''})`;
    },
  });
  return made;
}

function attributeOf(node: object, name: string): string | null {
  return 'getAttribute' in node && typeof node.getAttribute === 'function'
    ? (node.getAttribute(name) as string | null)
    : null;
}

/** With a fence that is longer than any inside. */
function fenced(code: string): string {
  const longest = Math.max(2, ...(code.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `\n\n${fence}\n${code}\n${fence}\n\n`;
}
