/** Accents that stand for themselves, the mark that belongs on a letter, and the letters that commonly carry it. */
const MARKS: Readonly<Record<string, { readonly mark: string; readonly on: string }>> = {
  '\u00b4': { mark: '\u0301', on: 'aeiouy' },
  '\u02cb': { mark: '\u0300', on: 'aeiou' },
  '\u02c6': { mark: '\u0302', on: 'aeiou' },
  '\u00a8': { mark: '\u0308', on: 'aeiouy' },
  '\u02dc': { mark: '\u0303', on: 'ano' },
  '\u00b8': { mark: '\u0327', on: 'cst' },
};
const ACCENTS = Object.keys(MARKS).join('');
/** Cheap: nearly every page has none. */
const HAS_ACCENT = new RegExp(`[${ACCENTS}]`);
const STANDING = new RegExp(`(\\p{L}*)([${ACCENTS}])(\\p{L}*)`, 'u');

/** The acute is typed for an apostrophe: `l´homme`, `qu´une`, `she´s`, `we´re`. */
const ELISION = /^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quelqu)$/i;
const CONTRACTION = /^(?:s|t|d|m|re|ve|ll)$/i;

/**
 * Puts an accent that stands beside its letter on it: `e´` and `´e` become `é`. Left as it is where it may be an
 * apostrophe, and where both neighbours could carry it. The grave accent of the keyboard is a quotation mark or code.
 */
export function repairAccents(text: string): string {
  const composed = text.normalize('NFC');
  if (!HAS_ACCENT.test(composed)) return composed;
  let repaired = '';
  let rest = composed;
  for (;;) {
    const found = STANDING.exec(rest);
    if (!found) return repaired + rest;
    const [whole, before = '', accent = '', after = ''] = found;
    const { word, left } = joinAccent(before, accent, after);
    repaired += rest.slice(0, found.index) + word;
    rest = left + rest.slice(found.index + whole.length);
  }
}

/** `left` is what has still to be looked at. */
function joinAccent(before: string, accent: string, after: string): { word: string; left: string } {
  const unchanged = { word: before + accent, left: after };
  const { mark, on } = MARKS[accent] ?? { mark: '', on: '' };
  const last = before.slice(-1);
  const first = after.slice(0, 1);
  const isApostrophe = accent === '\u00b4' && (ELISION.test(before) || CONTRACTION.test(after));
  const onLast = carries(last, on);
  if (isApostrophe || onLast === carries(first, on)) return unchanged;
  const letter = `${onLast ? last : first}${mark}`.normalize('NFC');
  return onLast
    ? { word: before.slice(0, -1) + letter, left: after }
    : { word: before + letter, left: after.slice(1) };
}

function carries(letter: string, on: string): boolean {
  return letter !== '' && on.includes(letter.toLowerCase());
}
