/**
 * How fast the simulated card works. A step gives every running sequence its next token and reads some tokens of new
 * prompts; it costs a part that is always there, a part for each running sequence and a part for each token read. So one
 * sequence alone gets `tokensPerS`, many together approach `loadedTokensPerS` and each of them gets less, as measured on real
 * cards (surya's own note: from 48 to 96 requests +28 %, from 96 to 240 +5 %; contract 3.1).
 */
export interface CardSpeed {
  /** tokens read from prompts in a second */
  readonly prefillTokensPerS: number;
  /** tokens a second of one sequence alone */
  readonly tokensPerS: number;
  /** tokens a second of the whole card, never quite reached */
  readonly loadedTokensPerS: number;
}

export interface Step {
  /** sequences that get a token */
  readonly sequences: number;
  /** tokens of prompts that are read */
  readonly prefillTokens: number;
}

/** Milliseconds of one step. */
export function stepMs({ sequences, prefillTokens }: Step, speed: CardSpeed): number {
  const perSequence = 1_000 / Math.max(speed.loadedTokensPerS, speed.tokensPerS);
  const always = 1_000 / speed.tokensPerS - perSequence;
  return always + perSequence * Math.max(1, sequences) + (prefillTokens * 1_000) / speed.prefillTokensPerS;
}
