import { loadSharp } from './load-sharp.ts';

/** Horizontal differences of a picture drawn as 17 × 16 fields: 256 bits. */
const ROWS = 16;
const COLUMNS = 17;
/** Divisible by both, so that fields are whole pixels, whichever way the picture is turned. */
const SIDE = ROWS * COLUMNS;

export const TURNS = [0, 90, 180, 270] as const;
export type Turn = (typeof TURNS)[number];

/** dHashes in hex of a picture as it is and after turning it clockwise, and its sides in pixels. Throws for what is no picture. */
export async function hashPicture(picture: Uint8Array): Promise<{
  readonly hashes: Record<Turn, string>;
  readonly width: number;
  readonly height: number;
}> {
  const sharp = await loadSharp();
  const { width, height } = await sharp(picture, { limitInputPixels: false }).metadata();
  const grey = await sharp(picture, { limitInputPixels: false })
    .flatten({ background: 'white' })
    .toColourspace('b-w')
    .resize(SIDE, SIDE, { fit: 'fill' })
    .raw()
    .toBuffer();
  const at = (x: number, y: number): number => grey[y * SIDE + x] ?? 0;
  const last = SIDE - 1;
  const hashes = {
    0: dHash(at),
    90: dHash((x, y) => at(y, last - x)),
    180: dHash((x, y) => at(last - x, last - y)),
    270: dHash((x, y) => at(last - y, x)),
  };
  return { hashes, width, height };
}

/** Bits that differ between two hashes. */
export function distance(a: string, b: string): number {
  let bits = 0;
  for (let at = 0; at < Math.max(a.length, b.length); at += 8) {
    let differing =
      (Number.parseInt(a.slice(at, at + 8), 16) ^ Number.parseInt(b.slice(at, at + 8), 16)) >>> 0;
    for (; differing !== 0; differing &= differing - 1) bits += 1;
  }
  return bits;
}

function dHash(at: (x: number, y: number) => number): string {
  const fields = Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: COLUMNS }, (_, column) => sumOf(at, column, row)),
  );
  const bits = fields.flatMap((row) =>
    row.slice(1).map((sum, index) => (sum > (row[index] ?? 0) ? '1' : '0')),
  );
  return (bits.join('').match(/.{4}/g) ?? []).map((four) => Number.parseInt(four, 2).toString(16)).join('');
}

/** Light of one field, COLUMNS rows high and ROWS columns wide. */
function sumOf(at: (x: number, y: number) => number, column: number, row: number): number {
  const [width, height] = [SIDE / COLUMNS, SIDE / ROWS];
  let sum = 0;
  for (let y = row * height; y < (row + 1) * height; y += 1)
    for (let x = column * width; x < (column + 1) * width; x += 1) sum += at(x, y);
  return sum;
}
