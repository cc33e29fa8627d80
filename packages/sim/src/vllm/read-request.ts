import type { Asked, CompletionPath } from './asked.ts';
import { sha256 } from './hash.ts';
import type { KnownPage } from './known-pages.ts';
import { type Pictures, tokensOf } from './pictures.ts';
import { readMessages } from './read-messages.ts';
import { badRequest, Refusal } from './refusal.ts';
import { countTokens } from './tokens.ts';

export interface RequestWorld {
  readonly pictures: Pictures;
  readonly pages: readonly KnownPage[];
  /** names that are served, adapters included */
  readonly names: ReadonlySet<string>;
  /** tokens of a prompt and its reply together */
  readonly maxModelLen: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Tokens around each message that a chat template adds. */
const TOKENS_OF_A_MESSAGE = 4;
/** vLLM's own default of a completion. */
const COMPLETION_MAX_TOKENS = 16;

/** Throws a refusal in vLLM's words for a request that it would not take. */
export async function readRequest(
  path: CompletionPath,
  bytes: Uint8Array,
  world: RequestWorld,
): Promise<Asked> {
  const fields = parseFields(bytes);
  const model = modelOf(fields, world.names);
  const isChat = path === '/v1/chat/completions';
  const prompt = isChat ? await readChat(fields, world) : readPrompt(fields);
  const { promptTokens } = prompt;
  const stream = fields.stream === true;
  const asked = isChat ? (fields.max_completion_tokens ?? fields.max_tokens) : fields.max_tokens;
  if ((numberOf(fields, 'n') ?? 1) > 1)
    throw badRequest('The simulated vLLM gives one choice: n has to be 1.', 'n');
  const options = fields.stream_options;
  if (options !== undefined && options !== null && !stream)
    throw badRequest('Stream options can only be defined when `stream=True`.', 'stream_options');
  return {
    ...prompt,
    path,
    model,
    maxTokens: budget(asked ?? (isChat ? undefined : COMPLETION_MAX_TOKENS), promptTokens, world.maxModelLen),
    stream,
    includeUsage: (options as Fields | null | undefined)?.include_usage === true,
    topLogprobs: isChat ? chatLogprobs(fields) : (numberOf(fields, 'logprobs') ?? null),
    stop: stopsOf(fields),
    ignoreEos: fields.ignore_eos === true,
    hash: sha256(bytes),
  };
}

/** The fields of a JSON body. */
export function parseFields(bytes: Uint8Array): Fields {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw badRequest(`JSON decode error: ${cause instanceof Error ? cause.message : ''}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('Input should be a valid dictionary');
  return value as Fields;
}

export function modelOf(fields: Fields, names: ReadonlySet<string>): string {
  const model = fields.model ?? names.values().next().value;
  if (typeof model !== 'string' || !names.has(model))
    throw new Refusal(404, `The model \`${String(model)}\` does not exist.`, { param: 'model' });
  return model;
}

type Prompt = Pick<
  Asked,
  'promptText' | 'lastText' | 'prefix' | 'promptTokens' | 'pictures' | 'page' | 'body'
>;

async function readChat(fields: Fields, { pictures, pages }: RequestWorld): Promise<Prompt> {
  const goesOn = fields.continue_final_message === true;
  if (goesOn && fields.add_generation_prompt !== false)
    throw badRequest('Cannot set both `continue_final_message` and `add_generation_prompt` to True.');
  const { texts, pictures: found, told } = await readMessages(fields.messages, pictures);
  const tools = fields.tools === undefined ? '' : JSON.stringify(fields.tools);
  const promptText = texts.map(({ text }) => text).join('\n');
  const ofPictures = found.reduce((tokens, { sent }) => tokens + tokensOf(sent), 0);
  const last = texts.at(-1);
  const first = found[0];
  return {
    promptText,
    lastText: texts.findLast(({ role }) => role === 'user')?.text ?? '',
    prefix: goesOn ? (last?.text ?? '') : '',
    promptTokens:
      countTokens(promptText) + countTokens(tools) + ofPictures + texts.length * TOKENS_OF_A_MESSAGE,
    pictures: found.map(({ sent }) => sent),
    page: first === undefined ? null : await pictures.recognise(first, pages),
    body: { ...fields, messages: told },
  };
}

function readPrompt(fields: Fields): Prompt {
  const { prompt } = fields;
  const [only] = Array.isArray(prompt) && prompt.length === 1 ? (prompt as unknown[]) : [prompt];
  const isTokens = Array.isArray(only) && only.length > 0 && only.every((token) => typeof token === 'number');
  if (typeof only !== 'string' && !isTokens)
    throw badRequest(
      'prompt: expected a text or one list of tokens; the simulation takes no several prompts',
      'prompt',
    );
  const text = typeof only === 'string' ? only : `${only.length} tokens`;
  return {
    promptText: text,
    lastText: text,
    prefix: '',
    promptTokens: typeof only === 'string' ? Math.max(1, countTokens(only)) : only.length,
    pictures: [],
    page: null,
    body: fields,
  };
}

function budget(asked: unknown, promptTokens: number, maxModelLen: number): number {
  const room = maxModelLen - promptTokens;
  if (room < 1)
    throw badRequest(
      `The decoder prompt (length ${promptTokens}) is longer than the maximum model length of ${maxModelLen}. Make sure that \`max_model_len\` is no smaller than the number of text tokens plus multimodal tokens.`,
    );
  if (asked === undefined || asked === null) return room;
  if (typeof asked !== 'number' || !Number.isInteger(asked) || asked < 1)
    throw badRequest(`max_tokens must be at least 1, got ${String(asked)}.`, 'max_tokens');
  if (asked > room)
    throw badRequest(
      `'max_tokens' or 'max_completion_tokens' is too large: ${asked}. This model's maximum context length is ${maxModelLen} tokens and your request has ${promptTokens} input tokens (${asked} > ${maxModelLen} - ${promptTokens}).`,
      'max_tokens',
    );
  return asked;
}

function chatLogprobs(fields: Fields): number | null {
  const top = numberOf(fields, 'top_logprobs') ?? 0;
  if (top > 0 && fields.logprobs !== true)
    throw badRequest('when using `top_logprobs`, `logprobs` must be set to true.', 'top_logprobs');
  return fields.logprobs === true ? top : null;
}

function stopsOf({ stop }: Fields): string[] {
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return stops.filter((text) => typeof text === 'string').filter((text) => text !== '');
}

function numberOf(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw badRequest(`${name}: Input should be a valid number`, name);
  return value;
}
