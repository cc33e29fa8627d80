import { PagefleetError } from '@pagefleet/contract';
import type { Metadata } from 'sharp';
import type { PageKind } from '../port.ts';
import { drawPicture, refuseHuge } from './draw-picture.ts';
import type { DocumentLimits, DocumentPage, OpenedDocument } from './open-document.ts';
import { sharp } from './sharp.ts';

/** A TIFF has pages; the frames of an animated WebP are one picture, of which the first is read. */
export async function openImage(
  bytes: Uint8Array,
  kind: PageKind,
  limits: DocumentLimits,
): Promise<OpenedDocument> {
  const metadata = await readMetadata(bytes, kind);
  const pageCount = kind === 'tiff' ? (metadata.pages ?? 1) : 1;
  if (pageCount === 1) refuseHuge(metadata, 0, limits);

  async function page(index: number): Promise<DocumentPage> {
    if (!Number.isInteger(index) || index < 0 || index >= pageCount) {
      throw new PagefleetError(
        'page_out_of_range',
        `page ${index + 1} does not exist; the document has ${pageCount}`,
      );
    }
    if (pageCount === 1) return { bytes, kind };
    const picture = await drawPicture(bytes, index, limits);
    return { bytes: picture.png, kind: 'png' };
  }

  return { kind, pageCount, page, close: () => undefined };
}

async function readMetadata(bytes: Uint8Array, kind: PageKind): Promise<Metadata> {
  try {
    return await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (cause) {
    throw new PagefleetError(
      'document_damaged',
      `the ${kind.toUpperCase()} cannot be opened: it is damaged or cut off`,
      {
        cause,
      },
    );
  }
}
