import type { IncomingMessage } from 'node:http';
import { PagefleetError } from '@pagefleet/contract';
import { type ChunkTaker, pumpBody } from './pump-body.ts';
import { startUploadGuard, type UploadGuard, type UploadLimits } from './upload-guard.ts';

/** Reads the whole body of a request, watching its size, its rate and its deadline. It never closes the connection. */
export async function readUpload(
  request: IncomingMessage,
  take: ChunkTaker,
  options: { readonly limits: UploadLimits; readonly signal: AbortSignal },
): Promise<void> {
  const { limits, signal } = options;
  let guard: UploadGuard | null = null;
  const counted: ChunkTaker = (chunk) => {
    guard?.count(chunk.length);
    return take(chunk);
  };
  try {
    await pumpBody(request, counted, signal, (fail) => {
      guard = startUploadGuard(limits, fail);
    });
  } finally {
    (guard as UploadGuard | null)?.stop();
  }
  if (!request.complete)
    throw new PagefleetError('client_gone', 'the body ended before its announced length');
}
