import { MODEL_PATHS, PagefleetError } from '@pagefleet/contract';
import type { ModelServer, ServerRequest } from '@pagefleet/engines';
import { type Dispatch, type DispatchStop, headersOf } from '../forward/dispatch.ts';

const CHAT_PATH = MODEL_PATHS[0];

/** The model server in the pod of a dispatch, for as many requests as one page takes. */
export function podModelServer(dispatch: Dispatch, stop: DispatchStop): ModelServer {
  const { client } = dispatch.pod;
  const startedAtMs = performance.now();
  let requests = 0;
  return {
    connection: client,
    async post({ encode, signal }) {
      const body = await encodeWith(encode, signal);
      // A request that was given up a moment ago may still be ending in the pod: each has an id of its own.
      requests += 1;
      if (requests > 1) dispatch.reading = `${dispatch.id}.${requests}`;
      const leftMs = dispatch.timeoutMs - (performance.now() - startedAtMs);
      // Not awaited here: while the reply is awaited, nothing in this frame may hold the body.
      return client.open({
        path: CHAT_PATH,
        headers: {
          ...headersOf(dispatch, leftMs),
          'content-type': 'application/json',
          'content-length': String(body.length),
        },
        body: onceFrom(body),
        timeoutMs: stop.transportTimeoutMs,
        signal,
      });
    },
  };
}

/** The connection's request lives as long as the reply takes; what was written is held by nobody. */
function onceFrom(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  let held: Uint8Array | null = bytes;
  return (async function* () {
    if (held === null) return;
    const given = held;
    held = null;
    yield given;
  })();
}

/** A thread that dies over a page is our own shortage; what is wrong with the page comes as a `PagefleetError`. */
async function encodeWith(encode: ServerRequest['encode'], signal: AbortSignal): Promise<Uint8Array> {
  try {
    return await encode();
  } catch (cause) {
    if (cause instanceof PagefleetError || signal.aborted) throw cause;
    throw new DrawingFault(cause);
  }
}

/** The thread that drew the page ended: out of memory, most likely. */
export class DrawingFault extends Error {
  readonly code = 'ENOMEM';
  constructor(cause: unknown) {
    super('the page could not be drawn: its thread ran out of memory or ended', { cause });
    this.name = 'DrawingFault';
  }
}
