/** The model sees at most this: patches of 28 pixels a side, the smallest of the three engines’ (olmOCR, Qwen2.5-VL). */
const PATCH = 28;
/** English has four and more; a chat template adds a few dozen of its own. */
const CHARS_PER_TOKEN = 3;
const TEMPLATE_TOKENS = 64;
/** Less is not worth asking for. */
const LEAST_REPLY = 256;
/** A reply that is gone on with may count a few tokens more than it had when it was generated. */
export const CONTINUATION_MARGIN = 64;

export interface KnownSize {
  /** pixels */
  readonly width: number;
  readonly height: number;
  readonly prompt: string;
}

/** Tokens of a question, rather too many than too few. */
export function estimateTokens({ width, height, prompt }: KnownSize): number {
  const picture = Math.ceil(width / PATCH) * Math.ceil(height / PATCH);
  return picture + Math.ceil(prompt.length / CHARS_PER_TOKEN) + TEMPLATE_TOKENS;
}

/**
 * The longest reply to ask for, tokens: a model server refuses a question that together with it exceeds its context, so a huge
 * page or a continuation gets what is left. null: too little is.
 */
export function fitMaxTokens(wanted: number, context: number, used: number): number | null {
  const left = context - used;
  return left < Math.min(wanted, LEAST_REPLY) ? null : Math.min(wanted, left);
}
