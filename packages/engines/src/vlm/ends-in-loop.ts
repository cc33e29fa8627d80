/** Lengths of a repeated piece that are tried, characters. */
const LONGEST_PIECE = 250;
/** A piece of one character may stand this often times four, longer ones up to four times (contract 3.4). */
const BASE_REPEATS = 4;
const SHORT_PIECE_BONUS = 3;
/** Looked at again without its end: a loop may just have left itself. */
const REMOVED_END = 50;
/** Of the raw text, characters: enough for the longest piece as often as a page may have it in lines or rows. */
const TAIL = 32_768;

/**
 * What stands for a leader: it takes a place of its own on the page, so that as many of them may be alike as a page has lines or
 * rows. A sheet to sign in, or a table of zeros, is no loop. 66 lines are six to the inch on eleven inches; some have two blanks.
 */
const MARK = '\u0001';
const MARKS_OF_A_PAGE = 100;

/**
 * Leaders, rules, blanks, empty cells and rows: a contents page, a form or an empty table, not a loop. Of 5,134 genuine pages
 * 132 would be called loops without this, and none with it. A run longer than any line or table of a page is what an engine
 * that has lost itself writes, so it stays.
 */
const LEADERS: readonly { readonly run: RegExp; readonly longest: number; readonly isLine: RegExp }[] = [
  { run: /(?:[.\u00b7\u2026_\-=|:\s]|&nbsp;){4,}/g, longest: 600, isLine: /(?:[.\u00b7\u2026_\-=|]\s*){4}/ },
  { run: /(?:<\/?(?:tr|td|th|tbody|br)(?:\s[^<>]{0,80})?\/?>\s*){4,}/g, longest: 8_000, isLine: /tr|br/ },
];

/** Whether a text ends in a piece that stands there far too often, one after the other (contract 3.4). */
export function endsInLoop(text: string): boolean {
  const tail = collapseLeaders(text.slice(-TAIL));
  return repeatsAtEnd(tail) || repeatsAtEnd(tail.slice(0, -REMOVED_END));
}

function collapseLeaders(text: string): string {
  return LEADERS.reduce(
    (left, { run, longest, isLine }) =>
      left.replace(run, (found) => {
        if (found.length > longest) return found;
        return isLine.test(found) ? MARK : found.slice(0, 1);
      }),
    text,
  );
}

function repeatsAtEnd(text: string): boolean {
  for (let length = 1; length <= LONGEST_PIECE; length += 1) {
    const allowed = Math.floor(BASE_REPEATS * (1 + SHORT_PIECE_BONUS / length));
    if (countAtEnd(text, length, allowed + 1) <= allowed) continue;
    const marks = text.slice(-length).split(MARK).length - 1;
    if (marks === 0) return true;
    const onPage = Math.max(allowed, Math.floor(MARKS_OF_A_PAGE / marks));
    if (countAtEnd(text, length, onPage + 1) > onPage) return true;
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
