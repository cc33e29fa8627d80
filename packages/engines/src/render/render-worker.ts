import { threadId } from 'node:worker_threads';
import { type ErrorCode, PagefleetError } from '@pagefleet/contract';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { Picture } from '../document/draw-picture.ts';
import { hasHeldMuch } from '../document/pdfium.ts';
import type { DrawnPicture } from '../vlm/drawing.ts';
import { drawForEngine, type EngineDrawTask } from './draw-for-engine.ts';
import { type DrawSettings, drawPdfPage } from './draw-pdf-page.ts';

/** With `settings` for the CPU engine, as grey; with `engine` for an engine on a model server. */
export type DrawTask = {
  readonly bytes: Uint8Array;
  /** where the thread says which one it is (`DrawingLimit`) */
  readonly thread?: Int32Array;
} & ({ readonly settings: DrawSettings } | { readonly engine: Omit<EngineDrawTask, 'bytes'> });

/** Errors travel as values: a class does not survive the way between threads. */
export type DrawAnswer<P = Picture | DrawnPicture> = {
  /** its thread has held so much memory that it had better end */
  readonly isSpent: boolean;
} & (
  | { readonly outcome: 'drawn'; readonly picture: P }
  | { readonly outcome: 'failed'; readonly code: ErrorCode; readonly message: string }
);

/** @public Called by piscina, which loads this file by its name. */
export default async function draw(task: DrawTask): Promise<DrawAnswer> {
  if (task.thread) Atomics.store(task.thread, 0, threadId);
  try {
    const { bytes } = task;
    if (!('engine' in task)) {
      const picture = await drawPdfPage(bytes, task.settings);
      return { outcome: 'drawn', picture, isSpent: await hasHeldMuch() };
    }
    const picture = await drawForEngine({ ...task.engine, bytes });
    return handedOver({ outcome: 'drawn', picture, isSpent: await hasHeldMuch() }, picture.base64);
  } catch (cause) {
    const isSpent = await hasHeldMuch();
    if (cause instanceof PagefleetError)
      return { outcome: 'failed', code: cause.code, message: cause.message, isSpent };
    return {
      outcome: 'failed',
      code: 'engine_failed',
      message: `drawing the page failed: ${String(cause)}`,
      isSpent,
    };
  }
}

/** Without a copy for the loop that waits for it. */
function handedOver(answer: DrawAnswer, { buffer }: Uint8Array): DrawAnswer {
  return move({ [transferableSymbol]: [buffer], [valueSymbol]: answer } as never) as never;
}
