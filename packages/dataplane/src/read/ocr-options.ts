import { type OcrRequest, PagefleetError } from '@pagefleet/contract';

/** What a client asks for beside the document itself, in whichever form it came. */
export interface OcrOptions {
  /** as asked for; null = the first pool */
  readonly model: string | null;
  /** not yet checked against the document: 0-based list, or text such as `0-5` or `0,2-4`; null = all */
  readonly pages: readonly number[] | string | null;
  readonly languages: readonly string[] | null;
  readonly blocks: boolean;
  readonly confidence: 'word' | 'page' | 'block' | null;
  /** read by the fleet or not at all */
  readonly requireFleet: boolean;
}

/** Fields that ask for something no engine here can do: silence would be taken for success. */
const CANNOT = [
  'bbox_annotation_format',
  'document_annotation_format',
  'document_annotation_prompt',
  'extract_header',
  'extract_footer',
] as const;

export function optionsOfRequest(request: OcrRequest): OcrOptions {
  for (const field of CANNOT) if (request[field]) throw cannot(field);
  return {
    model: request.model ?? null,
    pages: request.pages ?? null,
    languages: checkLanguages(request.languages ?? null),
    blocks: request.include_blocks ?? false,
    confidence: request.confidence_scores_granularity ?? null,
    requireFleet: request.require === 'fleet',
  };
}

/** Names of the options that can be given as text: fields of a form, or parameters behind the `?`. */
const TEXT_OPTIONS = [
  'model',
  'pages',
  'languages',
  'include_blocks',
  'include_image_base64',
  'confidence_scores_granularity',
  'table_format',
  'require',
] as const;
type TextOption = (typeof TEXT_OPTIONS)[number];

/** Options given as text, each at most once: of two values one would be dropped without a word. */
export function optionsOfText(pairs: Iterable<readonly [string, string]>): OcrOptions {
  const given: Partial<Record<TextOption, string>> = {};
  const seen = new Set<string>();
  for (const [name, value] of pairs) {
    if (!isTextOption(name)) {
      throw invalid(name, `"${name}" is no option; known are ${TEXT_OPTIONS.join(', ')}`);
    }
    if (seen.has(name)) throw invalid(name, `${name} is given more than once; expected one value`);
    seen.add(name);
    if (value !== '') given[name] = value;
  }
  parseFlag('include_image_base64', given.include_image_base64);
  parseChoice('table_format', given.table_format, ['markdown', 'html']);
  return {
    model: given.model ?? null,
    pages: given.pages ?? null,
    languages: checkLanguages(given.languages?.split(/[,+\s]+/).filter(Boolean) ?? null),
    blocks: parseFlag('include_blocks', given.include_blocks),
    confidence: parseChoice('confidence_scores_granularity', given.confidence_scores_granularity, [
      'word',
      'page',
      'block',
    ]),
    requireFleet: parseChoice('require', given.require, ['fleet']) === 'fleet',
  };
}

function isTextOption(name: string): name is TextOption {
  return (TEXT_OPTIONS as readonly string[]).includes(name);
}

function parseFlag(name: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1') return true;
  throw invalid(name, `${name} is "${text}"; expected true or false`);
}

function parseChoice<C extends string>(
  name: string,
  text: string | undefined,
  choices: readonly C[],
): C | null {
  if (text === undefined) return null;
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw invalid(name, `${name} is "${text}"; expected ${choices.join(', ')}`);
  return choice;
}

function checkLanguages(languages: readonly string[] | null): readonly string[] | null {
  if (languages === null || languages.length === 0) return null;
  if (languages.length > 8) throw invalid('languages', 'languages names more than 8 languages');
  for (const language of languages) {
    if (!/^[a-z]{3}(_[a-z]+)?$/.test(language)) {
      throw invalid('languages', `"${language}" is no language; expected codes such as eng, fra or deu`);
    }
  }
  return languages;
}

function cannot(field: string): PagefleetError {
  return new PagefleetError('unsupported', `${field} is not supported; leave it out`, {
    details: { param: field },
  });
}

function invalid(param: string, message: string): PagefleetError {
  return new PagefleetError('bad_request', message, { details: { param } });
}
