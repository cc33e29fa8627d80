import { distance, hashPicture, TURNS, type Turn } from './picture-hash.ts';
import { checkShape, type Shape } from './shape.ts';

/** A page whose true text is known. */
export interface KnownPage {
  readonly name: string;
  /** of the upright picture in grey: 256 bits in hex */
  readonly dhash: string;
  /** width over height of the upright picture; left out: any, so that a page squeezed or cut on one side is known all the same */
  readonly aspect?: number;
  /** pixels of the whole picture; one with fewer, or with more, is not known: it was drawn too small to be read, or beyond what the engine takes */
  readonly minPixels?: number;
  readonly maxPixels?: number;
  /** pixels; a picture whose longer side has another length is not known */
  readonly longestSide?: number;
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
 * turned, by 51 or more (test/integration/sim-vllm/known-pages.test.ts). Pages that lost 2 % of both sides differ by 31 to 56.
 */
const MAX_DISTANCE = 30;
/** Share. Sides are rounded to whole pixels; a page that lost 2 % on one side may have the hash of the whole one. */
const ASPECT_TOLERANCE = 0.01;
const PAGE: Shape = {
  name: ['string'],
  dhash: ['string'],
  aspect: ['number'],
  minPixels: ['number'],
  maxPixels: ['number'],
  longestSide: ['number'],
  text: ['string'],
};

/** One entry of a file of known pages, from its upright picture; the file is a JSON list of them. */
export async function describePage({
  picture,
  ...page
}: Omit<KnownPage, 'dhash' | 'aspect'> & { readonly picture: Uint8Array }): Promise<KnownPage> {
  const { hashes, width, height } = await hashPicture(picture);
  return { ...page, dhash: hashes[0], aspect: width / height };
}

export function parseKnownPages(json: string): KnownPage[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) throw new Error('known pages: expected a list');
  return list.map((entry, at) => {
    const page = checkShape(entry, PAGE, `pages[${at}]`) as Partial<KnownPage>;
    const { name, dhash, text } = page;
    if (name === undefined || dhash === undefined || text === undefined || !/^[0-9a-f]{64}$/.test(dhash))
      throw new Error(`pages[${at}]: expected name, text and dhash, 64 hex digits`);
    return { ...page, name, dhash, text };
  });
}

/** What is looked at of a picture. */
export interface LookedAt {
  readonly hashes: Readonly<Record<Turn, string>>;
  /** pixels */
  readonly width: number;
  readonly height: number;
}

/** The nearest known page, upright or turned; null: none is near enough, or it was not drawn as that page has to be. */
export function recognise(picture: LookedAt, pages: readonly KnownPage[]): RecognisedPage | null {
  let best: RecognisedPage | null = null;
  let least = MAX_DISTANCE + 1;
  for (const page of pages.filter((known) => hasItsSize(picture, known)))
    for (const correction of TURNS) {
      const bits = distance(picture.hashes[correction], page.dhash);
      if (bits >= least || !hasItsAspect(picture, correction, page)) continue;
      least = bits;
      best = { page, correction };
    }
  return best;
}

function hasItsSize({ width, height }: LookedAt, { minPixels, maxPixels, longestSide }: KnownPage): boolean {
  const pixels = width * height;
  return (
    pixels >= (minPixels ?? 0) &&
    pixels <= (maxPixels ?? Number.POSITIVE_INFINITY) &&
    Math.max(width, height) === (longestSide ?? Math.max(width, height))
  );
}

function hasItsAspect({ width, height }: LookedAt, correction: Turn, { aspect }: KnownPage): boolean {
  if (aspect === undefined) return true;
  const upright = correction % 180 === 0 ? width / height : height / width;
  return Math.abs(upright / aspect - 1) <= ASPECT_TOLERANCE;
}
