import { type ErrorCode, PagefleetError } from '@pagefleet/contract';
import type { Picture } from '../document/draw-picture.ts';
import { getPdfiumHeapBytes } from '../document/pdfium.ts';
import { type DrawSettings, drawPdfPage } from './draw-pdf-page.ts';

export interface DrawTask {
  readonly bytes: Uint8Array;
  readonly settings: DrawSettings;
}

/** Errors travel as values: a class does not survive the way between threads. */
export type DrawAnswer = { readonly heapBytes: number } & (
  | { readonly outcome: 'drawn'; readonly picture: Picture }
  | { readonly outcome: 'failed'; readonly code: ErrorCode; readonly message: string }
);

/** @public Called by piscina, which loads this file by its name. */
export default async function draw(task: DrawTask): Promise<DrawAnswer> {
  try {
    const picture = await drawPdfPage(task.bytes, task.settings);
    return { outcome: 'drawn', picture, heapBytes: await getPdfiumHeapBytes() };
  } catch (cause) {
    const heapBytes = await getPdfiumHeapBytes();
    if (cause instanceof PagefleetError)
      return { outcome: 'failed', code: cause.code, message: cause.message, heapBytes };
    return {
      outcome: 'failed',
      code: 'engine_failed',
      message: `drawing the page failed: ${String(cause)}`,
      heapBytes,
    };
  }
}
