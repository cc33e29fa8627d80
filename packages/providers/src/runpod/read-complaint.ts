import type { ApiAnswer } from './api-call.ts';

type Answered = Extract<ApiAnswer, { kind: 'answered' }>;

/** What an answer says of itself that went wrong, in one form for both APIs. */
export interface Complaint {
  readonly status: number;
  /** `extensions.code` of GraphQL; REST v2 has none */
  readonly codes: readonly string[];
  /** every message, for people; an HTML page says only that it is one */
  readonly words: string;
  /** GraphQL: the fault is inside the result, so there was one */
  readonly isInsideResult: boolean;
  readonly isJson: boolean;
}

interface GraphqlError {
  readonly message?: unknown;
  readonly path?: unknown;
  readonly extensions?: { readonly code?: unknown } | null;
}

const MAX_WORDS = 300;

export function readComplaint({ status, body, text }: Answered): Complaint {
  const errors = listOf(body, 'errors');
  const graphqlErrors = errors.filter(isRecord) as GraphqlError[];
  const fields = isRecord(body) ? [body.title, body.detail, body.error, body.message] : [];
  const messages = [...fields, ...errors, ...graphqlErrors.map(({ message }) => message)].filter(isText);
  return {
    status,
    codes: graphqlErrors.map(({ extensions }) => extensions?.code).filter(isText),
    words: shorten(messages.length > 0 ? [...new Set(messages)].join('; ') : plainText(text)),
    isInsideResult: graphqlErrors.some(({ path }) => Array.isArray(path) && path.length > 1),
    isJson: body !== undefined,
  };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(body: unknown, name: string): readonly unknown[] {
  const list = isRecord(body) ? body[name] : null;
  return Array.isArray(list) ? list : [];
}

function plainText(text: string): string {
  const code = /error code: \d+/.exec(text)?.[0];
  if (code !== undefined) return code;
  return /^\s*</.test(text) ? 'an HTML page' : text.trim();
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function shorten(text: string): string {
  return text.length <= MAX_WORDS ? text : `${text.slice(0, MAX_WORDS - 1)}…`;
}
