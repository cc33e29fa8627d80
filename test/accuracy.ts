/** How well a text was read: the measure of the corpus' `wer.py`, word for word. */
export interface Accuracy {
  /** word edit distance over the number of true words; reading order counts */
  readonly wer: number;
  /** order-free */
  readonly f1: number;
  readonly trueWords: number;
  readonly readWords: number;
}

export function measureAccuracy(truth: string, read: string): Accuracy {
  const trueWords = wordsOf(truth);
  const readWords = wordsOf(read);
  return {
    wer: editDistance(trueWords, readWords) / trueWords.length,
    f1: f1Of(trueWords, readWords),
    trueWords: trueWords.length,
    readWords: readWords.length,
  };
}

const PLAIN: readonly (readonly [string, string])[] = [
  ['“', '"'],
  ['”', '"'],
  ['‘', "'"],
  ['’', "'"],
  ['–', '-'],
  ['—', '-'],
  ['…', '...'],
];
/** Python's `\w`: letters, numbers of every kind and the underscore; marks are none. */
const HYPHENATED_LINE_END = /([\p{L}\p{N}_])-\s*\n\s*([\p{L}\p{N}_])/gu;
const WORD = /[\p{L}\p{N}]+/gu;

function wordsOf(text: string): string[] {
  let plain = text.normalize('NFKC').replaceAll('\u00ad', '');
  for (const [from, to] of PLAIN) plain = plain.replaceAll(from, to);
  return plain.replace(HYPHENATED_LINE_END, '$1$2').toLowerCase().match(WORD) ?? [];
}

function editDistance(from: readonly string[], to: readonly string[]): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [row, word] of from.entries()) {
    const current = [row + 1];
    for (const [column, other] of to.entries()) {
      const substituted = (previous[column] ?? 0) + (word === other ? 0 : 1);
      current.push(Math.min((previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1, substituted));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}

function f1Of(trueWords: readonly string[], readWords: readonly string[]): number {
  if (trueWords.length + readWords.length === 0) return 1;
  const left = new Map<string, number>();
  for (const word of trueWords) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of readWords) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared += 1;
  }
  return (2 * shared) / (trueWords.length + readWords.length);
}
