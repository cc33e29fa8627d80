import { AsyncLocalStorage } from 'node:async_hooks';
import { MODEL_PATHS, PagefleetError } from '@pagefleet/contract';
import type { ModelServer, ServerRequest, ServerResponse } from '@pagefleet/engines';
import { type Dispatch, type DispatchStop, headersOf } from '../forward/dispatch.ts';
import type { PodClient } from '../forward/pod-client.ts';

/** For which dispatch a server is asked. */
interface AskedFor {
  readonly dispatch: Dispatch;
  readonly stop: DispatchStop;
  readonly startedAtMs: number;
  requests: number;
}

const CHAT_PATH = MODEL_PATHS[0];

const asked = new AsyncLocalStorage<AskedFor>();
const servers = new WeakMap<PodClient, ModelServer>();

/** Runs `ask` with the model server in the pod of the dispatch. A server lives as long as the connections to its pod. */
export function withPodServer<Result>(
  dispatch: Dispatch,
  stop: DispatchStop,
  ask: (server: ModelServer) => Promise<Result>,
): Promise<Result> {
  const { client } = dispatch.pod;
  const server = servers.get(client) ?? { post: postToPod };
  servers.set(client, server);
  return asked.run({ dispatch, stop, startedAtMs: performance.now(), requests: 0 }, () => ask(server));
}

async function postToPod({ encode, signal }: ServerRequest): Promise<ServerResponse> {
  const ask = asked.getStore();
  if (!ask) throw new PagefleetError('internal', 'a pod was asked for no dispatch');
  const { dispatch, stop } = ask;
  const body = await encodeWith(encode, signal);
  // A request that was given up a moment ago may still be ending in the pod: each has an id of its own.
  ask.requests += 1;
  if (ask.requests > 1) dispatch.reading = `${dispatch.id}.${ask.requests}`;
  const leftMs = dispatch.timeoutMs - (performance.now() - ask.startedAtMs);
  // Not awaited here: while the reply is awaited, nothing in this frame may hold the body.
  return dispatch.pod.client.open({
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
