import { PagefleetError } from '@pagefleet/contract';
import type { Metadata, Sharp } from 'sharp';
import { DECODE_FACTOR, fitScale } from './raster-limits.ts';
import { type Density, readDensity } from './read-density.ts';
import { asGreyPng, sharp } from './sharp.ts';

/** An 8-bit grey PNG, upright, with square pixels. */
export interface Picture {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** null when the file does not say */
  readonly dpi: number | null;
}

export interface PictureLimits {
  readonly maxPixels: number;
}

/** Decodes one page of an image file. Every depth, colour and alpha ends as grey on white. */
export async function drawPicture(
  bytes: Uint8Array,
  pageIndex: number,
  limits: PictureLimits,
): Promise<Picture> {
  const shape = await readShape(bytes, pageIndex, limits);
  const upright = decode(bytes, pageIndex, limits, shape);
  const { data, info } = await finish(asGreyPng(upright), pageIndex);
  return { png: data, width: info.width, height: info.height, dpi: shape.dpi };
}

/** The same in red, green and blue, for the first page, as large as `size` says of the upright picture. */
export async function drawImageRaster(
  bytes: Uint8Array,
  limits: PictureLimits,
  size: (upright: { readonly width: number; readonly height: number }) => {
    readonly width: number;
    readonly height: number;
  },
) {
  const shape = await readShape(bytes, 0, limits);
  const drawn = size(shape);
  const dpi = shape.dpi === null ? null : Math.max(1, Math.round((shape.dpi * drawn.width) / shape.width));
  const decoded = decode(bytes, 0, limits, drawn);
  const flat = shape.isGrey
    ? decoded.toColourspace('b-w').removeAlpha()
    : decoded.toColourspace('srgb').ensureAlpha();
  const { data, info } = await finish(flat.raw(), 0);
  const { width, height, channels } = info;
  if (channels !== 1 && channels !== 4)
    throw new PagefleetError('page_unreadable', 'the picture has no usual colours');
  return { pixels: data, channels, width, height, dpi, isScan: true } as const;
}

function decode(
  bytes: Uint8Array,
  pageIndex: number,
  limits: PictureLimits,
  { width, height }: { readonly width: number; readonly height: number },
): Sharp {
  const input = sharp(bytes, {
    page: pageIndex,
    limitInputPixels: limits.maxPixels * DECODE_FACTOR,
    // 'error' reads what libtiff and libjpeg only warn about, as every viewer does.
    failOn: 'error',
  });
  return input.autoOrient().resize(width, height, { fit: 'fill' }).flatten({ background: 'white' });
}

async function finish(picture: Sharp, pageIndex: number) {
  try {
    return await picture.toBuffer({ resolveWithObject: true });
  } catch (cause) {
    throw new PagefleetError('page_unreadable', `page ${pageIndex + 1} cannot be decoded`, { cause });
  }
}

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly dpi: number | null;
  /** greys alone, by its header */
  readonly isGrey: boolean;
}

async function readShape(bytes: Uint8Array, pageIndex: number, limits: PictureLimits): Promise<Shape> {
  const metadata = await readMetadata(bytes, pageIndex);
  refuseHuge(metadata, pageIndex, limits);
  const turned = (metadata.orientation ?? 1) >= 5;
  const density = readDensity(bytes, pageIndex, metadata.density);
  const isGrey = metadata.space === 'b-w' || metadata.space === 'grey16';
  return { ...uprightShape(metadata, turned, density, limits), isGrey };
}

async function readMetadata(bytes: Uint8Array, pageIndex: number): Promise<Metadata> {
  try {
    return await sharp(bytes, { page: pageIndex, limitInputPixels: false }).metadata();
  } catch (cause) {
    throw new PagefleetError('page_unreadable', `page ${pageIndex + 1} is no picture that can be decoded`, {
      cause,
    });
  }
}

/** From the header alone, before a pixel is decoded. */
export function refuseHuge(
  size: { width: number; height: number },
  pageIndex: number,
  limits: PictureLimits,
): void {
  const pixels = size.width * size.height;
  const most = limits.maxPixels * DECODE_FACTOR;
  if (pixels <= most) return;
  throw new PagefleetError(
    'page_too_large',
    `page ${pageIndex + 1} is ${size.width} by ${size.height} pixels; at most ${most} pixels are decoded`,
  );
}

/** A fax line is half as dense as its columns: the sparser direction is stretched, so that letters keep their shape. */
function uprightShape(
  size: { width: number; height: number },
  turned: boolean,
  density: Density | null,
  limits: PictureLimits,
): Omit<Shape, 'isGrey'> {
  const dpi = density ? Math.max(density.x, density.y) : null;
  const squareWidth = density && dpi ? size.width * (dpi / density.x) : size.width;
  const squareHeight = density && dpi ? size.height * (dpi / density.y) : size.height;
  const scale = fitScale(squareWidth, squareHeight, limits.maxPixels);
  const width = Math.max(1, Math.round(squareWidth * scale));
  const height = Math.max(1, Math.round(squareHeight * scale));
  const scaledDpi = dpi === null ? null : Math.max(1, Math.round(dpi * scale));
  return turned ? { width: height, height: width, dpi: scaledDpi } : { width, height, dpi: scaledDpi };
}
