import type { Readable } from 'node:stream';

/** Takes a chunk; a promise makes the sender wait, a rejection ends the reading. */
export type ChunkTaker = (chunk: Buffer) => Promise<void> | undefined;

/**
 * Reads a stream to its end without ever destroying it: when reading stops early the connection must stay open, because
 * an answer is still to be sent on it.
 */
export function pumpBody(
  source: Readable,
  take: ChunkTaker,
  signal: AbortSignal,
  /** is given the means to end the reading early */
  onStart?: (fail: (cause: unknown) => void) => void,
): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    let settled = false;
    // A stream that has ended says so although it is paused, so its end may come while its last chunk is being taken.
    let taking: Promise<void> = Promise.resolve();
    const settle = (act: () => void): void => {
      if (settled) return;
      settled = true;
      source.off('data', onData);
      source.off('end', onEnd);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const fail = (cause: unknown): void =>
      settle(() => {
        source.pause();
        reject(cause);
      });
    const onData = (chunk: Buffer): void => {
      const waiting = take(chunk);
      if (!waiting) return;
      source.pause();
      taking = waiting.then(() => {
        if (!settled) source.resume();
      });
      taking.catch(fail);
    };
    const onEnd = (): void => void taking.then(() => settle(resolve), fail);
    const onAbort = (): void => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    source.on('data', onData);
    source.on('end', onEnd);
    onStart?.(fail);
  });
}
