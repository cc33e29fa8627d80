/** Accents that stand for themselves, and the mark that belongs on a letter (Unicode, Spacing and Combining marks). */
const MARKS: Readonly<Record<string, string>> = {
  '\u00b4': '\u0301',
  '\u0060': '\u0300',
  '\u02c6': '\u0302',
  '\u00a8': '\u0308',
  '\u02dc': '\u0303',
  '\u00b8': '\u0327',
};
const STANDING = Object.keys(MARKS).join('');
const AFTER = new RegExp(`(\\p{L})([${STANDING}])`, 'gu');
const BEFORE = new RegExp(`([${STANDING}])(\\p{L})`, 'gu');

/**
 * Puts an accent that stands beside its letter on it: `e´` and `´e` become `é`. Only where Unicode knows the letter
 * with that accent, so that quotation marks and code stay as they are.
 */
export function repairAccents(text: string): string {
  const joined = (whole: string, letter: string, accent: string): string => {
    const composed = `${letter}${MARKS[accent] ?? ''}`.normalize('NFC');
    return [...composed].length === 1 ? composed : whole;
  };
  return text
    .normalize('NFC')
    .replace(AFTER, joined)
    .replace(BEFORE, (whole, accent: string, letter: string) => joined(whole, letter, accent));
}
