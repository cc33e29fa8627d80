import type { ServerResponse } from 'node:http';
import { shareOf } from './hash.ts';

/** Where the bytes of a stream are cut. */
export interface CutWriter {
  write(text: string): void;
  end(): void;
  /** The connection ends here and now, in the middle of what was written last. */
  cut(text: string): void;
}

export interface CutOptions {
  /** of the writes, 0 to 1 */
  readonly share: number;
  readonly seed: string;
}

/**
 * Writes some events in two pieces, cut at any byte: inside of a letter, of a field, of a line. The second piece follows a
 * moment later, so that a reader gets them apart. Which ones and where is the same for the same seed.
 */
export function createCutWriter(response: ServerResponse, { share, seed }: CutOptions): CutWriter {
  let count = 0;
  let held: Buffer | null = null;
  const flush = (): void => {
    const bytes = held;
    held = null;
    if (bytes !== null && !response.destroyed) response.write(bytes);
  };
  return {
    write(text) {
      flush();
      const bytes = Buffer.from(text, 'utf8');
      count += 1;
      const at = bytes.length > 1 && shareOf(`${seed}.${count}`) < share ? cutAt(bytes, seed, count) : 0;
      if (at === 0) {
        response.write(bytes);
        return;
      }
      response.write(bytes.subarray(0, at));
      held = bytes.subarray(at);
      setImmediate(flush);
    },
    end() {
      flush();
      response.end();
    },
    cut(text) {
      flush();
      const bytes = Buffer.from(text, 'utf8');
      const { socket } = response;
      response.write(bytes.subarray(0, bytes.length >> 1), () => socket?.destroy());
    },
  };
}

/** From 1 to the last byte but one. */
function cutAt(bytes: Buffer, seed: string, count: number): number {
  return 1 + Math.floor(shareOf(`${seed}.${count}.at`) * (bytes.length - 1));
}
