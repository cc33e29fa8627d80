import { PagefleetError } from '@pagefleet/contract';
import type { Drawing, DrawnPicture } from '../vlm/drawing.ts';
import type { SizeLimits } from '../vlm/picture-size.ts';
import { createDrawThreads } from './render-pool.ts';

/** Pictures of pages as an engine wants them, drawn in at most `threads` threads of their own. */
export function createDrawing(limits: SizeLimits, threads: number): Drawing {
  const pool = createDrawThreads(threads);
  return {
    async draw({ bytes, kind, signal }, rotation) {
      if (bytes.length === 0) throw new PagefleetError('page_unreadable', 'the page has no bytes');
      return await pool.run<DrawnPicture>({ bytes, engine: { kind, rotation, limits } }, signal);
    },
    close: pool.close,
  };
}
