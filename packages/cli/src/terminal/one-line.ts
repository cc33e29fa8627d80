/** Blanks, line ends and whatever steers a terminal: what pods say is shown to people, not obeyed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const NOT_SHOWN = /[\s\u0000-\u001f\u007f-\u009f]+/g;

/** Text of others on one line of a terminal, at most so long: of a longer one its beginning and its end. */
export function oneLine(text: string, mostChars = Number.POSITIVE_INFINITY): string {
  const line = text.replace(NOT_SHOWN, ' ').trim();
  if (line.length <= mostChars) return line;
  const half = (mostChars - 3) / 2;
  return `${line.slice(0, Math.ceil(half)).trimEnd()} … ${line.slice(-Math.floor(half)).trimStart()}`;
}
