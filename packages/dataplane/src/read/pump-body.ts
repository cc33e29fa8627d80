import type { Readable } from 'node:stream';

/** Takes a chunk; a promise makes the sender wait, a rejection ends the reading. */
export type ChunkTaker = (chunk: Buffer) => Promise<void> | undefined;

/**
 * Reads a stream to its end without ever destroying it: when reading stops early the connection must stay open, because
 * an answer is still to be sent on it.
 */
export function pumpBody(source: Readable, take: ChunkTaker, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    let settled = false;
    const settle = (act: () => void): void => {
      settled = true;
      source.off('data', onData);
      source.off('end', onEnd);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const fail = (cause: unknown): void => {
      source.pause();
      settle(() => reject(cause));
    };
    const onData = (chunk: Buffer): void => {
      const waiting = take(chunk);
      if (!waiting) return;
      source.pause();
      waiting.then(
        () => {
          if (!settled) source.resume();
        },
        (cause) => {
          if (!settled) fail(cause);
        },
      );
    };
    const onEnd = (): void => settle(resolve);
    const onAbort = (): void => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    source.on('data', onData);
    source.on('end', onEnd);
  });
}
