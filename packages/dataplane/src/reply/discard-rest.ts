import type { IncomingMessage } from 'node:http';

/** What is read of a refused upload at most; the rest stays in the sender's hands. */
const MAX_DISCARDED_BYTES = 1024 * 1024;
/** The peer has the answer and closes; one that does not is cut off then. */
const MAX_OPEN_MS = 10_000;

/**
 * After an answer that came before the end of the body: reads and drops what still comes, until the peer closes. Closing
 * first makes nginx answer 502, because it is still writing (measured).
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let left = MAX_DISCARDED_BYTES;
  const onData = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left <= 0) request.pause();
  };
  const timer = setTimeout(() => request.socket.destroy(), MAX_OPEN_MS);
  const stop = (): void => clearTimeout(timer);
  request.on('data', onData);
  request.once('end', stop);
  request.once('close', stop);
  request.on('error', stop);
  request.resume();
}
