import { BrokenReply } from './model-server.ts';

/** A token of a reply, with the natural logarithm of its probability. */
export interface TokenTrace {
  readonly token: string;
  readonly logprob: number;
}

/** What one piece of a reply adds, of a stream or a whole one. */
export interface ReplyPiece {
  readonly text: string;
  /** `stop`, `length`, …; null while it goes on */
  readonly finishReason: string | null;
  readonly tokens: readonly TokenTrace[];
  /** null unless this piece counts the tokens */
  readonly usage: Usage | null;
}

/** Tokens of the question and of the reply, as the server counts them. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

interface Completion {
  readonly error?: unknown;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown };
    readonly message?: { readonly content?: unknown };
    readonly finish_reason?: unknown;
    readonly logprobs?: {
      readonly content?: readonly { token?: unknown; logprob?: unknown }[] | null;
    } | null;
  }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
}

/** Reads a completion, whole or one event of a stream. Throws `BrokenReply` for an error inside a 200 and for anything else. */
export function parsePiece(json: string): ReplyPiece {
  const completion = parseObject(json);
  if (completion.error !== undefined && completion.error !== null)
    throw new BrokenReply('the reply carries an error of the model server', { cause: completion.error });
  if (!Array.isArray(completion.choices)) throw new BrokenReply('the reply is no completion');
  const [choice] = completion.choices as NonNullable<Completion['choices']>;
  const content = choice?.delta?.content ?? choice?.message?.content;
  const finish = choice?.finish_reason;
  return {
    text: typeof content === 'string' ? content : '',
    finishReason: typeof finish === 'string' ? finish : null,
    tokens: (choice?.logprobs?.content ?? []).flatMap(({ token, logprob }) =>
      typeof token === 'string' && typeof logprob === 'number' ? [{ token, logprob }] : [],
    ),
    usage: usageOf(completion.usage),
  };
}

function usageOf(usage: Completion['usage']): Usage | null {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage ?? {};
  if (typeof promptTokens !== 'number' || typeof completionTokens !== 'number') return null;
  return { promptTokens, completionTokens };
}

function parseObject(json: string): Completion {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw new BrokenReply('the reply is no JSON object');
}
