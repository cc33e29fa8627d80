import { shareOf } from './hash.ts';

interface TokenLogprob {
  readonly token: string;
  /** natural logarithm of a probability */
  readonly logprob: number;
  readonly bytes: readonly number[];
}

/** Simulated probabilities, the same for the same token: mostly sure ones, none below a half. */
function logprobOf(token: string): number {
  return -0.7 * shareOf(token) ** 4;
}

/** As a chat carries them. */
export function chatLogprobs(tokens: readonly string[], top: number) {
  return {
    content: tokens.map((token) => ({
      ...describe(token),
      top_logprobs: Array.from({ length: top }, (_, at) =>
        at === 0 ? describe(token) : { ...describe(`${token}${'·'.repeat(at)}`), logprob: -2 * (at + 1) },
      ),
    })),
  };
}

/** As a plain completion carries them; `offset` = characters of the reply before. */
export function completionLogprobs(tokens: readonly string[], top: number, offset: number) {
  let at = offset;
  const offsets = tokens.map((token) => {
    const here = at;
    at += token.length;
    return here;
  });
  return {
    text_offset: offsets,
    token_logprobs: tokens.map(logprobOf),
    tokens,
    top_logprobs: tokens.map((token) => (top > 0 ? { [token]: logprobOf(token) } : {})),
  };
}

function describe(token: string): TokenLogprob {
  return { token, logprob: logprobOf(token), bytes: [...Buffer.from(token, 'utf8')] };
}
