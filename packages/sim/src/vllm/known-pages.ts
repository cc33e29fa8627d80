import { distance, hashPicture, TURNS, type Turn } from './picture-hash.ts';
import { checkShape, type Shape } from './shape.ts';

/** A page whose true text is known. */
export interface KnownPage {
  readonly name: string;
  /** of the upright picture in grey: 256 bits in hex */
  readonly dhash: string;
  /** plain: an empty line between paragraphs */
  readonly text: string;
}

export interface RecognisedPage {
  readonly page: KnownPage;
  /** so far the picture has to be turned clockwise to stand upright */
  readonly correction: Turn;
}

/**
 * Bits of 256. Pages of the corpus drawn at other sizes, as PNG or JPEG, differ by at most 15; other pages, and the same page
 * turned, by 51 or more (test/integration/sim-vllm/known-pages.test.ts).
 */
const MAX_DISTANCE = 30;
const PAGE: Shape = { name: ['string'], dhash: ['string'], text: ['string'] };

/** One entry of a file of known pages; the file is a JSON list of them. */
export async function describePage(page: {
  readonly name: string;
  readonly picture: Uint8Array;
  readonly text: string;
}): Promise<KnownPage> {
  return { name: page.name, dhash: (await hashPicture(page.picture))[0], text: page.text };
}

export function parseKnownPages(json: string): KnownPage[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) throw new Error('known pages: expected a list');
  return list.map((entry, at) => {
    const { name, dhash, text } = checkShape(entry, PAGE, `pages[${at}]`) as Partial<KnownPage>;
    if (name === undefined || dhash === undefined || text === undefined || !/^[0-9a-f]{64}$/.test(dhash))
      throw new Error(`pages[${at}]: expected name, text and dhash, 64 hex digits`);
    return { name, dhash, text };
  });
}

/** The nearest known page, upright or turned; null: none is near enough. */
export function recognise(
  hashes: Readonly<Record<Turn, string>>,
  pages: readonly KnownPage[],
): RecognisedPage | null {
  let best: RecognisedPage | null = null;
  let least = MAX_DISTANCE + 1;
  for (const page of pages)
    for (const correction of TURNS) {
      const bits = distance(hashes[correction], page.dhash);
      if (bits >= least) continue;
      least = bits;
      best = { page, correction };
    }
  return best;
}
