import { type EngineProfile, PagefleetError } from '@pagefleet/contract';
import { askServer, type EncodeRequest, type ServerReply } from './ask-server.ts';
import { buildRequest } from './build-request.ts';
import type { Ask } from './decide-attempt.ts';
import type { Drawing, DrawnSize, PageToRead } from './drawing.ts';
import { CONTINUATION_MARGIN, estimateTokens, fitMaxTokens } from './fit-max-tokens.ts';
import type { LoopThresholds } from './loop-watch.ts';
import { type ModelServer, ReplyTimeout } from './model-server.ts';
import { startRequestClock } from './request-clock.ts';
import type { TokenTally } from './token-tally.ts';

export interface AskedPage {
  readonly page: PageToRead;
  readonly ask: Ask;
  readonly server: ModelServer;
  readonly profile: EngineProfile;
  readonly prompt: string;
  readonly drawing: Drawing;
  readonly timeoutMs: number;
  readonly loop: LoopThresholds | null;
  readonly trace: boolean;
  /** goes on with what a continued reply had */
  readonly tally: TokenTally;
  /** longest reply wanted, tokens */
  readonly maxTokens: number;
  /** what the server takes, tokens of question and reply */
  readonly context: number;
  /** by the reply that is gone on with, tokens of question and reply; null: a reply from the start */
  readonly usedTokens: number | null;
}

export interface PageAnswer extends ServerReply {
  readonly size: DrawnSize;
  readonly tally: TokenTally;
  /** tokens of question and whole reply, told or estimated */
  readonly usedTokens: number;
}

/**
 * One request for one page: loaded, drawn and encoded when it is about to be written, and dropped then. The text is whole, with
 * what it goes on from.
 */
export async function askPage(asked: AskedPage): Promise<PageAnswer> {
  const { page, ask, server, loop, tally, timeoutMs } = asked;
  const clock = startRequestClock(page.signal, timeoutMs);
  let drawn: { readonly size: DrawnSize; readonly questionTokens: number } | null = null;
  let isDrawing = false;
  const encode: EncodeRequest = async (reply) => {
    isDrawing = true;
    clock.restart();
    const picture = await asked.drawing.draw(
      { load: () => page.load(), kind: page.kind, signal: clock.signal },
      ask.rotation,
    );
    const { width, height, dpi } = picture;
    const question = estimateTokens({ width, height, prompt: asked.prompt });
    drawn = { size: { width, height, dpi }, questionTokens: question };
    const used = asked.usedTokens === null ? question : asked.usedTokens + CONTINUATION_MARGIN;
    const maxTokens = fitMaxTokens(asked.maxTokens, asked.context, used) ?? asked.maxTokens;
    const body = buildRequest({ ...asked, picture, maxTokens, reply });
    clock.restart();
    isDrawing = false;
    return body;
  };
  try {
    page.signal.throwIfAborted();
    const reply = await askServer(encode, { server, loop, tally, signal: clock.signal });
    return answerOf(reply, asked, drawn);
  } catch (cause) {
    if (page.signal.aborted) throw goneOf(page.signal, cause);
    if (!clock.hasStruck) throw cause;
    if (!isDrawing) throw new ReplyTimeout(timeoutMs, { cause });
    throw new PagefleetError(
      'local_shortage',
      `the page was not drawn within ${timeoutMs} ms: more pages wait for a drawing thread than this machine draws`,
      { cause },
    );
  } finally {
    clock.stop();
  }
}

function answerOf(
  reply: ServerReply,
  { ask, tally, usedTokens }: AskedPage,
  drawn: { readonly size: DrawnSize; readonly questionTokens: number } | null,
): PageAnswer {
  if (drawn === null)
    throw new PagefleetError('internal', 'a model server replied to a request that was never made');
  const told = reply.usage && reply.usage.promptTokens + reply.usage.completionTokens;
  const estimated = (usedTokens ?? drawn.questionTokens) + reply.tokens;
  return {
    ...reply,
    text: (ask.prefix ?? '') + reply.text,
    ...{ size: drawn.size, tally },
    usedTokens: told ?? estimated,
  };
}

function goneOf({ reason }: AbortSignal, cause: unknown): PagefleetError {
  if (reason instanceof PagefleetError) return reason;
  return new PagefleetError('client_gone', 'the client hung up before the page was read', { cause });
}
