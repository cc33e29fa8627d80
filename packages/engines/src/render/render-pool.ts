import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PagefleetError } from '@pagefleet/contract';
import { Piscina } from 'piscina';
import type { Picture } from '../document/draw-picture.ts';
import type { DrawSettings } from './draw-pdf-page.ts';
import type { DrawAnswer, DrawTask } from './render-worker.ts';

export interface RenderPool {
  /** Aborting ends the thread that draws. */
  draw(bytes: Uint8Array, signal: AbortSignal): Promise<Picture>;
  close(): Promise<void>;
}

/** Drawing is pure CPU in synchronous WASM calls, so it has threads of its own, started when first needed. */
export function createRenderPool(width: number, settings: DrawSettings): RenderPool {
  const pool = new Piscina<DrawTask, DrawAnswer>({
    filename: join(import.meta.dirname, 'render-worker.ts'),
    minThreads: 0,
    maxThreads: Math.max(1, Math.min(width, availableParallelism())),
    idleTimeout: 60_000,
    concurrentTasksPerWorker: 1,
  });

  async function draw(bytes: Uint8Array, signal: AbortSignal): Promise<Picture> {
    const answer = await pool.run({ bytes, settings }, { signal });
    if (answer.ok) return answer.picture;
    throw new PagefleetError(answer.code, answer.message);
  }

  return { draw, close: () => pool.destroy() };
}
