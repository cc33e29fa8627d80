import { readFileSync } from 'node:fs';
import { ENGINE_PROFILES, type ProfileName } from '@pagefleet/contract';
import { describePage, type KnownPage } from '@pagefleet/sim/vllm';
import sharp from 'sharp';
import { corpusPath } from '../../corpus.ts';

/** A page of the corpus that is read through the whole path. */
export interface AccuracyPage {
  readonly file: readonly [folder: string, name: string];
  /** the upright page under `pages`, by whose picture it is known and whose text is the truth */
  readonly of: string;
  /** degrees clockwise by which it has to be turned to be read; an engine that turns nothing is not asked */
  readonly turn: 0 | 90 | 180 | 270;
}

const page = (name: string, of = name, turn: AccuracyPage['turn'] = 0): AccuracyPage => ({
  file: ['pages', name],
  of,
  turn,
});

/** Born digital, scanned, small, skewed text of two columns, a PDF with a scan inside, and pages that lie. */
export const ACCURACY_PAGES: readonly AccuracyPage[] = [
  page('linn.png'),
  page('eurotext.png'),
  page('tracemonkey2.png'),
  { file: ['documents', 'linn.pdf'], of: 'linn.png', turn: 0 },
  page('rintro30-sideways.png', 'rintro30.png', 270),
  page('phototest-rotated-180.png', 'phototest.png', 180),
];

/** Share of the picture's own pixels below which letters are lost: half the density leaves a quarter of the pixels. */
const LEAST_PIXELS = 0.35;

export function truthOf({ of }: AccuracyPage): string {
  return readFileSync(corpusPath('pages', of.replace(/\.png$/, '.txt')), 'utf8');
}

/** A page as it is known, without how large an engine wants it. */
export interface DescribedPage {
  readonly known: KnownPage;
  /** of the picture that stands in the corpus */
  readonly pixels: number;
}

/** Looks at the upright pages; it takes some tenths of a second for each. */
export async function describeCorpusPages(): Promise<DescribedPage[]> {
  const named = new Map(ACCURACY_PAGES.map((one) => [one.of, one]));
  return await Promise.all(
    [...named].map(async ([name, one]) => {
      const picture = readFileSync(corpusPath('pages', name));
      const { width, height } = await sharp(picture).metadata();
      const known = await describePage({ name, picture, text: truthOf(one) });
      return { known, pixels: width * height };
    }),
  );
}

/** What the simulated server knows of the pages: also how large the engine of the profile wants them. */
export function knownPagesOf(profile: ProfileName, pages: readonly DescribedPage[]): KnownPage[] {
  const { maxArea, longestSide } = ENGINE_PROFILES[profile].picture;
  return pages.map(({ known, pixels }) =>
    longestSide === null
      ? {
          ...{ ...known, minPixels: Math.floor(pixels * LEAST_PIXELS) },
          ...(maxArea === null ? {} : { maxPixels: maxArea }),
        }
      : { ...known, longestSide },
  );
}
