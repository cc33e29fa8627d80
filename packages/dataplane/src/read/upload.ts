import type { IncomingMessage } from 'node:http';
import { PagefleetError } from '@pagefleet/contract';
import { type ChunkTaker, pumpBody } from './pump-body.ts';
import { startUploadGuard, type UploadLimits } from './upload-guard.ts';

/** Reads the whole body of a request, watching its size, its rate and its deadline. It never closes the connection. */
export async function readUpload(
  request: IncomingMessage,
  take: ChunkTaker,
  options: { readonly limits: UploadLimits; readonly signal: AbortSignal },
): Promise<void> {
  const tooSlow = new AbortController();
  const guard = startUploadGuard(options.limits, (error) => tooSlow.abort(error));
  try {
    await pumpBody(
      request,
      (chunk) => {
        guard.count(chunk.length);
        return take(chunk);
      },
      AbortSignal.any([options.signal, tooSlow.signal]),
    );
  } finally {
    guard.stop();
  }
  if (!request.complete)
    throw new PagefleetError('client_gone', 'the body ended before its announced length');
}
