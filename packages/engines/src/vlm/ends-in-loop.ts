/** Lengths of a repeated piece that are tried, characters. */
const LONGEST_PIECE = 250;
/** A piece of one character may stand this often times four, longer ones up to four times (contract 3.4). */
const BASE_REPEATS = 4;
const SHORT_PIECE_BONUS = 3;
/** Looked at again without its end: a loop may just have left itself. */
const REMOVED_END = 50;
/** Enough for the longest piece as often as it may stand, and once more, and for what is removed. */
const JUDGED = (BASE_REPEATS + 2) * LONGEST_PIECE + REMOVED_END;
/** Of the raw text; leaders in it shrink to nearly nothing. */
const TAIL = 16_384;

/**
 * Leaders, rules, blanks, empty cells and rows: a contents page, a form or an empty table, not a loop. Of 5,134 genuine pages
 * 132 would be called loops without this, and none with it. A run longer than any line or table of a page is what an engine
 * that has lost itself writes, so it stays.
 */
const LEADERS: readonly { readonly run: RegExp; readonly longest: number }[] = [
  { run: /(?:[.\u00b7\u2026_\-=|:\s]|&nbsp;){4,}/g, longest: 600 },
  { run: /(?:<\/?(?:tr|td|th|tbody|br)(?:\s[^<>]{0,80})?\/?>\s*){4,}/g, longest: 8_000 },
];

/** Whether a text ends in a piece that stands there far too often, one after the other (contract 3.4). */
export function endsInLoop(text: string): boolean {
  const tail = collapseLeaders(text.slice(-TAIL));
  return repeatsAtEnd(tail) || repeatsAtEnd(tail.slice(0, -REMOVED_END));
}

function collapseLeaders(text: string): string {
  return LEADERS.reduce(
    (left, { run, longest }) =>
      left.replace(run, (found) => (found.length > longest ? found : found.slice(0, 1))),
    text,
  );
}

function repeatsAtEnd(text: string): boolean {
  const judged = text.slice(-JUDGED);
  for (let length = 1; length <= LONGEST_PIECE; length += 1) {
    const allowed = Math.floor(BASE_REPEATS * (1 + SHORT_PIECE_BONUS / length));
    if (countAtEnd(judged, length, allowed + 1) > allowed) return true;
  }
  return false;
}

/** How often the last `length` characters stand back to back at the end, counted up to `most`. */
function countAtEnd(text: string, length: number, most: number): number {
  if (text.length < length * most) return 0;
  let same = 0;
  const needed = length * (most - 1);
  for (let at = text.length - 1; same < needed; at -= 1, same += 1) {
    if (text.charCodeAt(at) !== text.charCodeAt(at - length)) break;
  }
  return 1 + Math.floor(same / length);
}
