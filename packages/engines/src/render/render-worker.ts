import { type ErrorCode, PagefleetError } from '@pagefleet/contract';
import type { Picture } from '../document/draw-picture.ts';
import { type DrawSettings, drawPdfPage } from './draw-pdf-page.ts';

export interface DrawTask {
  readonly bytes: Uint8Array;
  readonly settings: DrawSettings;
}

/** Errors travel as values: a class does not survive the way between threads. */
export type DrawAnswer =
  | { readonly ok: true; readonly picture: Picture }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

export default async function draw(task: DrawTask): Promise<DrawAnswer> {
  try {
    const picture = await drawPdfPage(task.bytes, task.settings);
    const answer: DrawAnswer = { ok: true, picture };
    return answer;
  } catch (cause) {
    if (cause instanceof PagefleetError) return { ok: false, code: cause.code, message: cause.message };
    return { ok: false, code: 'engine_failed', message: `the page could not be drawn: ${String(cause)}` };
  }
}
