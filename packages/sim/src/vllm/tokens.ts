/** Letters of one word, up to three digits, one other character or a run of blanks: four characters or so, as in real vocabularies. */
const TOKEN = / ?\p{L}{1,5}| ?\p{N}{1,3}|\s+|[^\s]/gu;

/** Cuts a text into the simulation's tokens; put together they are the text. */
export function splitTokens(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

export function countTokens(text: string): number {
  return splitTokens(text).length;
}
