import { parsePiece, type ReplyPiece, type TokenTrace } from './completion-text.ts';
import { createLoopWatch, type LoopThresholds } from './loop-watch.ts';
import { BrokenReply, type ModelServer, ServerRefusal, type ServerResponse } from './model-server.ts';
import { readStream } from './read-stream.ts';

/** A reply to one request, as far as it was listened to. */
export interface ServerReply {
  readonly text: string;
  /** `looped`: it was abandoned while it came */
  readonly end: 'stop' | 'length' | 'looped';
  readonly tokens: readonly TokenTrace[];
  /** tokens that were generated, as far as the server said */
  readonly completionTokens: number | null;
}

/** Makes the body of a request, whose reply is wanted as it comes or whole. */
export type EncodeRequest = (reply: 'streamed' | 'whole') => Promise<Uint8Array>;

export interface AskOptions {
  readonly server: ModelServer;
  /** null: a reply is never abandoned */
  readonly loop: LoopThresholds | null;
  readonly signal: AbortSignal;
}

/** Of an answer that is no reply. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** A reply of the longest budget is far below. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** Servers that refused to stream and then answered a plain request. They live as long as their connections. */
const cannotStream = new WeakSet<ModelServer>();

/**
 * Asks for one completion and reads it as it comes. A whole body in answer to a streaming request is used as it is; a
 * refusal of it as the client's fault is followed by one plain request; everything else is thrown: `ServerRefusal`,
 * `BrokenReply`, or what the connection said. It is never asked twice for what may have been generated.
 */
export async function askServer(request: EncodeRequest, options: AskOptions): Promise<ServerReply> {
  const { server } = options;
  if (!cannotStream.has(server)) {
    const streamed = await post(() => request('streamed'), options);
    if (isStream(streamed)) return await listen(readStream(streamed.body), options);
    if (isReply(streamed)) return await readWhole(streamed, options);
    await readText(streamed.body, MAX_REFUSAL_BYTES).catch(() => '');
  }
  const plain = await post(() => request('whole'), options);
  if (!isReply(plain)) throw new ServerRefusal(plain.status, await readText(plain.body, MAX_REFUSAL_BYTES));
  cannotStream.add(server);
  return await readWhole(plain, options);
}

/** Throws for an answer that says that the server, not the request, is at fault. */
async function post(
  encode: () => Promise<Uint8Array>,
  { server, signal }: AskOptions,
): Promise<ServerResponse> {
  const response = await server.post({ encode, signal });
  const isOurs = response.status >= 400 && response.status < 500;
  if (isReply(response) || isOurs) return response;
  throw new ServerRefusal(response.status, await readText(response.body, MAX_REFUSAL_BYTES));
}

function isReply({ status }: ServerResponse): boolean {
  return status >= 200 && status < 300;
}

function isStream(response: ServerResponse): boolean {
  return isReply(response) && response.contentType.startsWith('text/event-stream');
}

async function readWhole({ body }: ServerResponse, options: AskOptions): Promise<ServerReply> {
  const piece = parsePiece(await readText(body, MAX_REPLY_BYTES));
  return await listen(
    (async function* () {
      yield piece;
    })(),
    options,
  );
}

async function listen(pieces: AsyncIterable<ReplyPiece>, { loop }: AskOptions): Promise<ServerReply> {
  const watch = createLoopWatch(loop);
  const tokens: TokenTrace[] = [];
  let finishReason: string | null = null;
  let completionTokens: number | null = null;
  for await (const piece of pieces) {
    tokens.push(...piece.tokens);
    completionTokens = piece.completionTokens ?? completionTokens;
    finishReason = piece.finishReason ?? finishReason;
    if (watch.add(piece.text)) return { text: watch.text, end: 'looped', tokens, completionTokens };
  }
  if (finishReason === null) throw new BrokenReply('the reply ended without saying why');
  const end = finishReason === 'length' ? 'length' : 'stop';
  return { text: watch.text, end, tokens, completionTokens };
}

async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
