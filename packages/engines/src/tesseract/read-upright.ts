import type { Picture } from '../document/draw-picture.ts';
import { turnPicture } from '../document/turn-picture.ts';
import type { Reading } from './parse-tsv.ts';
import type { Recogniser, Rotation } from './recogniser.ts';
import { meanConfidence, type ReadPicture, wordsOf } from './to-page-result.ts';

/** Upright pages measured 80 and more, upside-down ones 33–40. */
const DOUBTFUL_BELOW_CONFIDENCE = 65;
/** With so few words the orientation cannot be detected, but reading the other ways up costs little. */
const FEW_WORDS = 40;
/** An upright reading wins over a sideways one unless it is clearly less sure. */
const SIDEWAYS_ALLOWANCE = 5;
const UNKNOWN_DPI = 72;

/** Reads as it stands; only a doubtful reading pays for the orientation pass and a second reading. */
export async function readUpright(
  recogniser: Recogniser,
  picture: Picture,
  languages: readonly string[],
  signal: AbortSignal,
): Promise<ReadPicture> {
  let best = await readTurned(picture, 0);
  if (isDoubtful(best.reading)) {
    const detected = await recogniser.detectRotation(picture, signal);
    for (const rotation of rotationsToTry(detected, best.reading)) {
      const other = await readTurned(picture, rotation);
      if (confidenceOf(other.reading) + allowanceFor(best.reading) > confidenceOf(best.reading)) best = other;
    }
  }
  return best;

  async function readTurned(upright: Picture, rotation: Rotation): Promise<ReadPicture> {
    const turned = rotation === 0 ? upright : await turnPicture(upright, rotation);
    const reading = await recogniser.recognise(turned, languages, signal);
    return { reading, width: turned.width, height: turned.height, dpi: turned.dpi ?? UNKNOWN_DPI, rotation };
  }
}

function allowanceFor(reading: Reading): number {
  return isSideways(reading) ? SIDEWAYS_ALLOWANCE : 0;
}

function rotationsToTry(detected: Rotation | null, reading: Reading): readonly Rotation[] {
  if (detected !== null) return detected === 0 ? [] : [detected];
  return wordsOf(reading).length <= FEW_WORDS ? [180, 90, 270] : [];
}

/** Sideways text is often read well in place, but its boxes and its order suffer: such a page is turned all the same. */
function isDoubtful(reading: Reading): boolean {
  const words = wordsOf(reading);
  if (words.length === 0) return false;
  return confidenceOf(reading) < DOUBTFUL_BELOW_CONFIDENCE || isSideways(reading);
}

function isSideways(reading: Reading): boolean {
  const long = wordsOf(reading).filter((word) => word.text.length >= 4);
  const tall = long.filter(({ box }) => box.y1 - box.y0 > box.x1 - box.x0);
  return tall.length * 2 > long.length;
}

function confidenceOf(reading: Reading): number {
  return meanConfidence(wordsOf(reading)) ?? 0;
}
