import { sniffKind } from './sniff-kind.ts';

/** Dots per inch across and down, before any EXIF turn. */
export interface Density {
  readonly x: number;
  readonly y: number;
}

const METRE_PER_INCH = 0.0254;
/** Outside of it a density is a default or nonsense, and stretching by it would do harm. */
const PLAUSIBLE_DPI = { least: 50, most: 4800 };
const MOST_UNEVEN = 4;

/**
 * What the file says of its density in both directions; null when it says nothing that can be believed. `elsewhere` is
 * a density found by other means (EXIF) and taken for both directions.
 */
export function readDensity(bytes: Uint8Array, pageIndex: number, elsewhere?: number): Density | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return plausible(readByKind(view, pageIndex)) ?? square(elsewhere);
  } catch (cause) {
    if (cause instanceof RangeError) return square(elsewhere);
    throw cause;
  }
}

function square(dpi: number | undefined): Density | null {
  return dpi === undefined ? null : plausible({ x: dpi, y: dpi });
}

function readByKind(view: Buffer, pageIndex: number): Density | null {
  switch (sniffKind(view)) {
    case 'png':
      return readPng(view);
    case 'jpeg':
      return readJfif(view);
    case 'tiff':
      return readTiff(view, pageIndex);
    default:
      return null;
  }
}

function plausible(density: Density | null): Density | null {
  if (!density) return null;
  const { x, y } = density;
  const within = [x, y].every((dpi) => dpi >= PLAUSIBLE_DPI.least && dpi <= PLAUSIBLE_DPI.most);
  return within && Math.max(x, y) / Math.min(x, y) <= MOST_UNEVEN ? density : null;
}

/** pHYs stands before the first IDAT. */
function readPng(view: Buffer): Density | null {
  for (let at = 8; at + 12 <= view.length; ) {
    const length = view.readUInt32BE(at);
    const type = view.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT') return null;
    if (type === 'pHYs') {
      if (view[at + 16] !== 1) return null;
      return {
        x: view.readUInt32BE(at + 8) * METRE_PER_INCH,
        y: view.readUInt32BE(at + 12) * METRE_PER_INCH,
      };
    }
    at += 12 + length;
  }
  return null;
}

function readJfif(view: Buffer): Density | null {
  if (view.readUInt16BE(2) !== 0xffe0 || view.toString('latin1', 6, 10) !== 'JFIF') return null;
  const unit = view[13];
  const perInch = unit === 1 ? 1 : unit === 2 ? 2.54 : 0;
  return { x: view.readUInt16BE(14) * perInch, y: view.readUInt16BE(16) * perInch };
}

const TIFF_TAG = { xResolution: 282, yResolution: 283, resolutionUnit: 296 } as const;
const MAX_TIFF_PAGES_WALKED = 10_000;

/** Classic TIFF only: a BigTIFF is never a fax. */
function readTiff(view: Buffer, pageIndex: number): Density | null {
  const little = view.toString('latin1', 0, 2) === 'II';
  const u16 = (at: number): number => (little ? view.readUInt16LE(at) : view.readUInt16BE(at));
  const u32 = (at: number): number => (little ? view.readUInt32LE(at) : view.readUInt32BE(at));
  if (u16(2) !== 42 || pageIndex > MAX_TIFF_PAGES_WALKED) return null;
  let directory = u32(4);
  for (let page = 0; page < pageIndex && directory !== 0; page += 1)
    directory = u32(directory + 2 + u16(directory) * 12);
  if (directory === 0) return null;

  const rational = (at: number): number => u32(at) / u32(at + 4);
  let x = 0;
  let y = 0;
  let perInch = 1;
  for (let entry = 0; entry < u16(directory); entry += 1) {
    const at = directory + 2 + entry * 12;
    const tag = u16(at);
    if (tag === TIFF_TAG.xResolution) x = rational(u32(at + 8));
    if (tag === TIFF_TAG.yResolution) y = rational(u32(at + 8));
    if (tag === TIFF_TAG.resolutionUnit) perInch = u16(at + 8) === 3 ? 2.54 : u16(at + 8) === 2 ? 1 : 0;
  }
  return { x: x * perInch, y: y * perInch };
}
