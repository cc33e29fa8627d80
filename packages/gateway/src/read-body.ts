import type { Readable } from 'node:stream';
import { PagefleetError } from '@pagefleet/contract';

/**
 * The whole body, or the reason why not: `payload_too_large`, `empty_body`, `client_gone`, or the signal's reason. The
 * stream goes on flowing with nobody listening: a peer that is cut off while it sends would lose the answer.
 */
export function readBody(
  stream: Readable,
  limits: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer> {
  const { maxBytes, signal } = limits;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;

    const stop = (): void => {
      stream.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
      signal.removeEventListener('abort', onAbort);
      stream.on('error', () => undefined);
    };
    const fail = (error: unknown): void => {
      stop();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) fail(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      if (bytes > 0) resolve(Buffer.concat(chunks, bytes));
      else reject(new PagefleetError('empty_body', 'the request carries no page'));
    };
    const onLost = (): void => fail(new PagefleetError('client_gone', 'the sender hung up'));
    const onAbort = (): void => fail(signal.reason);

    signal.addEventListener('abort', onAbort, { once: true });
    stream.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
    if (signal.aborted) onAbort();
  });
}

export function tooLarge(maxBytes: number): PagefleetError {
  return new PagefleetError('payload_too_large', `the page is larger than ${maxBytes} bytes`, {
    details: { maxBytes },
  });
}
