import { availableParallelism } from 'node:os';
import { PagefleetError } from '@pagefleet/contract';
import { createPageSlots } from '../page-slots.ts';
import type { Drawing, DrawnPicture } from '../vlm/drawing.ts';
import type { SizeLimits } from '../vlm/picture-size.ts';
import { createDrawThreads } from './render-pool.ts';

/** The next page is loaded while one is drawn; more would only lie in memory. */
const LOADED_PER_THREAD = 2;

/** Threads that draw, shared by all engines of a process: their memory is bounded however many pools there are. */
export interface DrawRoom {
  /** Pictures of pages as one engine wants them. */
  drawing(limits: SizeLimits): Drawing;
  close(): Promise<void>;
}

/**
 * At most `threads` threads, and no more than there are cores. However many pages wait, only those of which the picture comes
 * next are loaded.
 */
export function openDrawRoom(threads: number): DrawRoom {
  const width = Math.max(1, Math.min(threads, availableParallelism()));
  const pool = createDrawThreads(width);
  const loaded = createPageSlots(LOADED_PER_THREAD * width);
  return {
    drawing: (limits) => ({
      async draw({ load, kind, signal }, rotation) {
        const giveBack = await loaded.take(signal);
        try {
          const bytes = await load();
          if (bytes.length === 0) throw new PagefleetError('page_unreadable', 'the page has no bytes');
          return await pool.run<DrawnPicture>({ bytes, engine: { kind, rotation, limits } }, signal);
        } finally {
          giveBack();
        }
      },
    }),
    close: pool.close,
  };
}
