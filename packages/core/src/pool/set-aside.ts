/** An offer that is not tried for a while. Refusals in a row double the while. */
export interface SetAside {
  readonly untilMs: number;
  readonly times: number;
}

const FIRST_MS = 60_000;
const LONGEST_MS = 1_800_000;

export type SetAsideBook = Readonly<Record<string, SetAside>>;

/** Sets the offer aside for a minute, doubling to half an hour. */
export function setAside(book: SetAsideBook, name: string, nowMs: number): SetAsideBook {
  const times = (book[name]?.times ?? 0) + 1;
  return { ...book, [name]: { times, untilMs: nowMs + Math.min(FIRST_MS * 2 ** (times - 1), LONGEST_MS) } };
}

/** Something was bought there: what was refused before is forgotten. */
export function takeBack(book: SetAsideBook, name: string): SetAsideBook {
  if (!(name in book)) return book;
  const { [name]: _, ...rest } = book;
  return rest;
}
