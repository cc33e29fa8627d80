import { endsInLoop } from './ends-in-loop.ts';

export interface LoopThresholds {
  /** the reply is not looked at before it has this length, characters */
  readonly firstLook: number;
  /** and then every so many characters */
  readonly step: number;
  /** looks in a row that must find a loop */
  readonly hits: number;
}

/** Watches one reply as it comes. */
export interface LoopWatch {
  /** Adds a piece of the reply; true once it loops, and then for good. */
  add(piece: string): boolean;
  readonly text: string;
}

/** null: it never loops. Looks exactly at `firstLook`, `firstLook + step`, …, however the reply is cut into pieces. */
export function createLoopWatch(thresholds: LoopThresholds | null): LoopWatch {
  const { firstLook, step, hits } = thresholds ?? { firstLook: Number.POSITIVE_INFINITY, step: 1, hits: 1 };
  let text = '';
  let nextLook = firstLook;
  let inARow = 0;
  let loops = false;
  return {
    add(piece) {
      text += piece;
      while (!loops && text.length >= nextLook) {
        inARow = endsInLoop(text.slice(0, nextLook)) ? inARow + 1 : 0;
        loops = inARow >= hits;
        nextLook += step;
      }
      return loops;
    },
    get text() {
      return text;
    },
  };
}
