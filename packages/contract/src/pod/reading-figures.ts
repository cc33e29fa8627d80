/**
 * Why a reply of a model was not taken: `looped` abandoned while it came, `loop` whole and repeating itself, `cut` at
 * its longest, `invalid` not what the engine says, `turned` it asks for the page turned.
 */
export const REJECTIONS = ['looped', 'loop', 'cut', 'invalid', 'turned'] as const;
export type Rejection = (typeof REJECTIONS)[number];

/** What the reading of one page has cost: requests to the model server, and the replies that were not taken. */
export interface ReadingFigures {
  readonly asked: number;
  /** `tokens` generated, as far as known */
  readonly rejected: readonly { readonly why: Rejection; readonly tokens: number }[];
}

const ENTRY = /^([a-z]{1,16})=(\d{1,9})$/;
/** Far above every engine's ladder. */
const MAX_ENTRIES = 64;

/** As the header `PAGE_HEADERS.readings` of an answer: `asked=3, looped=1204, cut=8000`. */
export function writeReadings({ asked, rejected }: ReadingFigures): string {
  const entries = rejected.slice(0, MAX_ENTRIES - 1).map(({ why, tokens }) => `${why}=${Math.round(tokens)}`);
  return [`asked=${asked}`, ...entries].join(', ');
}

/** Null for what is no such header; reasons that this version does not know are left out. */
export function parseReadings(header: string | undefined): ReadingFigures | null {
  const entries = (header ?? '').split(', ').map((entry) => ENTRY.exec(entry));
  if (entries.length > MAX_ENTRIES || entries[0]?.[1] !== 'asked') return null;
  const [first, ...others] = entries.map((entry) => ({ name: entry?.[1] ?? '', count: Number(entry?.[2]) }));
  const rejected = others.flatMap(({ name, count }) => {
    const why = REJECTIONS.find((known) => known === name);
    return why === undefined || Number.isNaN(count) ? [] : [{ why, tokens: count }];
  });
  return { asked: first?.count ?? 0, rejected };
}
