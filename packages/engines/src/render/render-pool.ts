import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import { Piscina } from 'piscina';
import type { Picture } from '../document/draw-picture.ts';
import { createPageSlots } from '../page-slots.ts';
import type { DrawnPicture } from '../vlm/drawing.ts';
import type { DrawSettings } from './draw-pdf-page.ts';
import { limitDrawing } from './limit-drawing.ts';
import type { DrawAnswer, DrawTask } from './render-worker.ts';

export interface RenderPool {
  /** Aborting ends the thread that draws. */
  draw(bytes: Uint8Array, signal: AbortSignal): Promise<Picture>;
  close(): Promise<void>;
}

export interface DrawThreads {
  /**
   * Draws in a thread; the bytes are copied. Aborting ends the thread that draws, and so does drawing for too long, which is
   * `page_unreadable`.
   */
  run<P extends Picture | DrawnPicture>(task: DrawTask, signal: AbortSignal): Promise<P>;
  close(): Promise<void>;
}

const THREAD_IDLE_MS = 30_000;
/**
 * Of a core. The largest honest pages take 7 s. A page of a few kilobytes can draw for hours, and would keep a thread from all
 * other pages until its own deadline.
 */
const DRAW_MAX_CPU_MS = 30_000;

/** Grey pictures of PDF pages, for the CPU engine. */
export function createRenderPool(width: number, settings: DrawSettings): RenderPool {
  const threads = createDrawThreads(width);
  return {
    draw: (bytes, signal) => threads.run<Picture>({ bytes, settings }, signal),
    close: threads.close,
  };
}

/**
 * Drawing is pure CPU in synchronous WASM calls, so it has threads of its own, started when first needed.
 * The memory of a WASM heap comes back only with the end of its thread: after a page that grew one too far the
 * threads finish what they do and new ones take the next pages.
 */
export function createDrawThreads(width: number, maxCpuMs: number = DRAW_MAX_CPU_MS): DrawThreads {
  const maxThreads = Math.max(1, Math.min(width, availableParallelism()));
  const free = createPageSlots(maxThreads);
  const retiring = new Set<Promise<void>>();
  let pool = startPool(maxThreads);

  async function run<P extends Picture | DrawnPicture>(task: DrawTask, signal: AbortSignal): Promise<P> {
    const giveBack = await free.take(signal);
    const drawnIn = pool;
    const limit = limitDrawing(() => drawnIn.threads, maxCpuMs);
    try {
      const ends = AbortSignal.any([signal, limit.signal]);
      return await draw<P>({ ...task, thread: limit.thread }, drawnIn, ends);
    } catch (cause) {
      if (!limit.signal.aborted || signal.aborted) throw cause;
      const message = `the page takes more than ${maxCpuMs / 1_000} s of a core to draw`;
      throw new PagefleetError('page_unreadable', message, { cause });
    } finally {
      limit.clear();
      giveBack();
    }
  }

  async function draw<P extends Picture | DrawnPicture>(
    task: DrawTask,
    drawnIn: Piscina<DrawTask, DrawAnswer>,
    signal: AbortSignal,
  ): Promise<P> {
    // A view would take its whole buffer along; a copy of the page alone can be handed over without another.
    const bytes = new Uint8Array(task.bytes);
    const answer = (await drawnIn.run(
      { ...task, bytes },
      { signal, transferList: [bytes.buffer] },
    )) as DrawAnswer<P>;
    if (answer.isSpent && drawnIn === pool) {
      pool = startPool(maxThreads);
      retire(drawnIn);
    }
    if (answer.outcome === 'drawn') return answer.picture;
    throw new PagefleetError(answer.code, answer.message);
  }

  function retire(old: Piscina<DrawTask, DrawAnswer>): void {
    const retired = old.close().finally(() => retiring.delete(retired));
    retiring.add(retired);
  }

  return {
    run,
    async close() {
      await Promise.all([pool.destroy(), ...retiring]);
    },
  };
}

function startPool(maxThreads: number): Piscina<DrawTask, DrawAnswer> {
  return new Piscina<DrawTask, DrawAnswer>({
    filename: join(import.meta.dirname, 'render-worker.ts'),
    minThreads: 0,
    maxThreads,
    idleTimeout: THREAD_IDLE_MS,
    concurrentTasksPerWorker: 1,
  });
}
