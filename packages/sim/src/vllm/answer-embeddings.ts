import { sha256, shareOf } from './hash.ts';
import { modelOf } from './read-request.ts';
import { badRequest } from './refusal.ts';
import { countTokens } from './tokens.ts';

/** Small on purpose; a request may ask for another with `dimensions`. */
const DIMENSIONS = 64;
const MAX_DIMENSIONS = 4_096;

export interface Embeddings {
  readonly model: string;
  readonly promptTokens: number;
  readonly answer: object;
}

/** Vectors of length 1, the same for the same text; they mean nothing. Throws a refusal. */
export function embed(fields: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Embeddings {
  const model = modelOf(fields, names);
  const dimensions = fields.dimensions ?? DIMENSIONS;
  if (!Number.isInteger(dimensions) || Number(dimensions) < 1 || Number(dimensions) > MAX_DIMENSIONS)
    throw badRequest(`dimensions: expected a whole number from 1 to ${MAX_DIMENSIONS}`, 'dimensions');
  const inputs = inputsOf(fields.input);
  const asBase64 = fields.encoding_format === 'base64';
  const promptTokens = inputs.reduce((tokens, text) => tokens + Math.max(1, countTokens(text)), 0);
  const answer = {
    id: `embd-${sha256(JSON.stringify(inputs)).slice(0, 32)}`,
    object: 'list',
    created: Math.floor(Date.now() / 1_000),
    model,
    data: inputs.map((text, index) => {
      const vector = vectorOf(text, Number(dimensions));
      const embedding = asBase64 ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
      return { index, object: 'embedding', embedding };
    }),
    usage: {
      ...{ prompt_tokens: promptTokens, total_tokens: promptTokens, completion_tokens: 0 },
      prompt_tokens_details: null,
    },
  };
  return { model, promptTokens, answer };
}

function inputsOf(input: unknown): string[] {
  if (typeof input === 'string') return [input];
  if (Array.isArray(input) && input.length > 0) {
    if (input.every((text) => typeof text === 'string')) return input as string[];
    if (input.every((token) => typeof token === 'number')) return [JSON.stringify(input)];
    if (input.every((tokens) => Array.isArray(tokens))) return input.map((tokens) => JSON.stringify(tokens));
  }
  throw badRequest('input: expected a text, a list of texts or lists of tokens', 'input');
}

function vectorOf(text: string, dimensions: number): number[] {
  const raw = Array.from({ length: dimensions }, (_, at) => shareOf(`${at}.${text}`) * 2 - 1);
  const length = Math.hypot(...raw) || 1;
  return raw.map((value) => value / length);
}
