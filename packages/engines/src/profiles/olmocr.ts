import { parse } from 'yaml';
import { toPlainText } from '../vlm/html-text.ts';
import type { ParsedReply, ParseReply } from './profile-parser.ts';

/** What stands before the text of a page (contract 3.3). */
interface FrontMatter {
  readonly is_rotation_valid?: unknown;
  readonly rotation_correction?: unknown;
}

const FRONT_MATTER = /^\s*---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const TURNS = [90, 180, 270] as const;

/** Reads a YAML front matter with the engine's verdict on the page's rotation, and Markdown behind it. */
export const parseOlmocr: ParseReply = (reply): ParsedReply => {
  const matter = FRONT_MATTER.exec(reply);
  if (matter === null) return { kind: 'invalid', why: 'it does not begin with a front matter' };
  const facts = parseMatter(matter[1] ?? '');
  if (facts === null) return { kind: 'invalid', why: 'its front matter is no YAML mapping' };
  if (typeof facts.is_rotation_valid !== 'boolean')
    return { kind: 'invalid', why: 'its front matter does not say whether the page stands upright' };
  const by = TURNS.find((degrees) => degrees === facts.rotation_correction);
  if (facts.is_rotation_valid === false && by !== undefined) return { kind: 'turned', by };
  const markdown = reply.slice(matter[0].length).trim();
  return { kind: 'page', markdown, text: plainOf(markdown), blocks: null };
};

function parseMatter(yaml: string): FrontMatter | null {
  try {
    const value: unknown = parse(yaml, { logLevel: 'error' });
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Its tables are HTML, its pictures are described; the rest of its Markdown is left as it is. */
function plainOf(markdown: string): string {
  return markdown
    .replace(/<table\b[\s\S]*?<\/table>/gi, (table) => toPlainText(table))
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/^#{1,6} /gm, '')
    .replace(/\*\*([^*\n]+)\*\*/g, '$1')
    .trim();
}
