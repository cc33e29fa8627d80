/** Uncompressed little-endian TIFFs for tests, written tag by tag: sharp cannot write several pages. */
export interface TiffFixture {
  readonly pages: readonly TiffPage[];
  /** the last directory points back to the first */
  readonly loop?: boolean;
}

interface TiffPage {
  readonly grey: number;
  readonly width?: number;
  readonly height?: number;
  readonly dpi?: readonly [x: number, y: number];
  /** where the pixels are said to be, when that is a lie */
  readonly stripAt?: number;
}

const SHORT = 3;
const LONG = 4;
const RATIONAL = 5;
const MOST_PIXELS_WRITTEN = 1_000_000;

export function makeTiff(fixture: TiffFixture): Buffer {
  const parts: Buffer[] = [Buffer.from('49492a0008000000', 'hex')];
  let at = 8;
  for (const [index, page] of fixture.pages.entries()) {
    const isLast = index === fixture.pages.length - 1;
    const part = writePage(page, at, isLast ? (fixture.loop ? 8 : 0) : 'behind');
    parts.push(part);
    at += part.length;
  }
  return Buffer.concat(parts);
}

function writePage(page: TiffPage, at: number, next: number | 'behind'): Buffer {
  const { width = 4, height = 4, dpi = [200, 200] } = page;
  const pixels = Buffer.alloc(Math.min(width * height, MOST_PIXELS_WRITTEN), page.grey);
  const entryCount = 12;
  const rationalsAt = at + 2 + entryCount * 12 + 4;
  const pixelsAt = rationalsAt + 16;
  const entries: [tag: number, type: number, value: number][] = [
    [256, LONG, width],
    [257, LONG, height],
    [258, SHORT, 8],
    [259, SHORT, 1],
    [262, SHORT, 1],
    [273, LONG, page.stripAt ?? pixelsAt],
    [277, SHORT, 1],
    [278, LONG, height],
    [279, LONG, pixels.length],
    [282, RATIONAL, rationalsAt],
    [283, RATIONAL, rationalsAt + 8],
    [296, SHORT, 2],
  ];
  const directory = Buffer.alloc(pixelsAt - at);
  directory.writeUInt16LE(entryCount, 0);
  for (const [index, [tag, type, value]] of entries.entries()) {
    const entryAt = 2 + index * 12;
    directory.writeUInt16LE(tag, entryAt);
    directory.writeUInt16LE(type, entryAt + 2);
    directory.writeUInt32LE(1, entryAt + 4);
    directory.writeUInt32LE(value, entryAt + 8);
  }
  const end = pixelsAt + pixels.length;
  directory.writeUInt32LE(next === 'behind' ? end : next, 2 + entryCount * 12);
  for (const [index, value] of [dpi[0], 1, dpi[1], 1].entries()) {
    directory.writeUInt32LE(value, rationalsAt - at + index * 4);
  }
  return Buffer.concat([directory, pixels]);
}
