import type { TokenTrace } from './completion-text.ts';

/** What is kept of a reply’s tokens: their trace only where it is wanted, for it weighs a hundred times the reply. */
export interface TokenTally {
  add(tokens: readonly TokenTrace[]): void;
  /** with a probability, so far */
  readonly count: number;
  /** 0 to 100: their mean probability, as Surya’s own client counts it; null where none was told */
  readonly confidence: number | null;
  /** empty unless it is kept */
  readonly trace: readonly TokenTrace[];
}

export function createTokenTally(keepsTrace: boolean): TokenTally {
  const trace: TokenTrace[] = [];
  let count = 0;
  let sum = 0;
  return {
    add(tokens) {
      for (const token of tokens) {
        count += 1;
        sum += Math.exp(Math.min(0, token.logprob));
        if (keepsTrace) trace.push(token);
      }
    },
    get count() {
      return count;
    },
    get confidence() {
      return count === 0 ? null : (100 * sum) / count;
    },
    trace,
  };
}
