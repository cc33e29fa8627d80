import { parsePiece, type ReplyPiece, type Usage } from './completion-text.ts';
import { createLoopWatch, type LoopThresholds } from './loop-watch.ts';
import { BrokenReply, type ModelServer, ServerRefusal, type ServerResponse } from './model-server.ts';
import { readStream } from './read-stream.ts';
import type { TokenTally } from './token-tally.ts';

/** A reply to one request, as far as it was listened to. */
export interface ServerReply {
  readonly text: string;
  /** `looped`: it was abandoned while it came */
  readonly end: 'stop' | 'length' | 'looped';
  /** null: the server did not say, as when it was abandoned */
  readonly usage: Usage | null;
  /** generated tokens as far as is known: those counted by the server, else at least one for each piece that came */
  readonly tokens: number;
}

/** Makes the body of a request, whose reply is wanted as it comes or whole. */
export type EncodeRequest = (reply: 'streamed' | 'whole') => Promise<Uint8Array>;

export interface AskOptions {
  readonly server: ModelServer;
  /** null: a reply is never abandoned */
  readonly loop: LoopThresholds | null;
  /** gets the tokens of the reply */
  readonly tally: TokenTally;
  readonly signal: AbortSignal;
}

/** Of an answer that is no reply. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** A reply of the longest budget is far below. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/**
 * Statuses that say something else than "cannot stream": key, owner, time, size, overload. Asking such a server again would
 * add to the overload, and an answer then would brand it as one that cannot stream.
 */
const SAYS_WHY = new Set([401, 403, 408, 409, 413, 429]);

/** Connections to servers that refused to stream and then answered a plain request. */
const cannotStream = new WeakSet<object>();

/**
 * Asks for one completion and reads it as it comes. A whole body in answer to a streaming request is used as it is; a
 * refusal of it as the client's fault is followed by one plain request; everything else is thrown: `ServerRefusal`,
 * `BrokenReply`, or what the connection said. It is never asked twice for what may have been generated.
 */
export async function askServer(request: EncodeRequest, options: AskOptions): Promise<ServerReply> {
  const { server } = options;
  if (!cannotStream.has(server.connection)) {
    const streamed = await post(() => request('streamed'), options);
    if (isStream(streamed)) return await listen(readStream(streamed.body), options);
    if (isReply(streamed)) return await readWhole(streamed, options);
    await readText(streamed.body, MAX_REFUSAL_BYTES);
  }
  const plain = await post(() => request('whole'), options);
  if (!isReply(plain)) throw await refusalOf(plain);
  cannotStream.add(server.connection);
  return await readWhole(plain, options);
}

/** Throws for every answer but a reply, and a refusal that may mean that the server cannot stream. */
async function post(
  encode: () => Promise<Uint8Array>,
  { server, signal }: AskOptions,
): Promise<ServerResponse> {
  const response = await server.post({ encode, signal });
  const { status } = response;
  if (isReply(response) || (status >= 400 && status < 500 && !SAYS_WHY.has(status))) return response;
  throw await refusalOf(response);
}

async function refusalOf({ status, body }: ServerResponse): Promise<ServerRefusal> {
  return new ServerRefusal(status, await readText(body, MAX_REFUSAL_BYTES));
}

function isReply({ status }: ServerResponse): boolean {
  return status >= 200 && status < 300;
}

function isStream(response: ServerResponse): boolean {
  return isReply(response) && response.contentType.trim().toLowerCase().startsWith('text/event-stream');
}

async function readWhole({ body }: ServerResponse, options: AskOptions): Promise<ServerReply> {
  const piece = parsePiece(await readText(body, MAX_REPLY_BYTES));
  return await listen(
    (async function* () {
      yield piece;
    })(),
    { ...options, loop: null },
  );
}

async function listen(pieces: AsyncIterable<ReplyPiece>, { loop, tally }: AskOptions): Promise<ServerReply> {
  const watch = createLoopWatch(loop);
  const tracedBefore = tally.count;
  let finishReason: string | null = null;
  let usage: Usage | null = null;
  let withText = 0;
  for await (const piece of pieces) {
    tally.add(piece.tokens);
    if (piece.text !== '') withText += 1;
    usage = piece.usage ?? usage;
    finishReason = piece.finishReason ?? finishReason;
    if (watch.add(piece.text)) return { text: watch.text, end: 'looped', usage, tokens: known() };
  }
  if (finishReason !== 'stop' && finishReason !== 'length')
    throw new BrokenReply(
      finishReason === null
        ? 'the reply ended without saying why'
        : `the reply ended early: ${JSON.stringify(finishReason.slice(0, 40))}`,
    );
  return { text: watch.text, end: finishReason, usage, tokens: known() };

  function known(): number {
    return usage?.completionTokens ?? Math.max(withText, tally.count - tracedBefore);
  }
}

/** Cut at `maxBytes`, and the rest given up. */
async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(size + chunk.length > maxBytes ? chunk.subarray(0, maxBytes - size) : chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
