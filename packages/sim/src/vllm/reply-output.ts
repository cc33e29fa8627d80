import type { ServerResponse } from 'node:http';
import type { CutOptions } from './cut-writer.ts';
import { createCutWriter } from './cut-writer.ts';
import type { Piece } from './pieces.ts';
import { errorBody, type Refusal } from './refusal.ts';
import type { AnswerWriter, Ending } from './write-answer.ts';

/** Where a reply goes: as events while it comes, or as one body at its end. */
export interface ReplyOutput {
  add(pieces: readonly Piece[]): void;
  finish(ending: Ending): void;
  /** The connection is cut in the middle of these pieces. */
  cut(pieces: readonly Piece[]): void;
  /** It ends in order and is no whole reply. */
  endEarly(): void;
  fail(refusal: Refusal): void;
  /** that went out before the reply began; null: it goes with the reply's end */
  readonly sentStatus: number | null;
}

export interface OutputOptions {
  readonly writer: AnswerWriter;
  readonly includeUsage: boolean;
  /** one event for each token, however many came at once */
  readonly eventPerToken: boolean;
  readonly cuts: CutOptions;
}

export function streamedOutput(response: ServerResponse, options: OutputOptions): ReplyOutput {
  const { writer, includeUsage, eventPerToken, cuts } = options;
  const stream = createCutWriter(response, cuts);
  let begun = false;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  // Before the first token: a client sees that it is heard.
  response.flushHeaders();
  const eventsOf = (pieces: readonly Piece[], ending: Ending | null): string => {
    const first = begun ? null : writer.first();
    begun = true;
    const groups = eventPerToken && pieces.length > 1 ? pieces.map((piece) => [piece]) : [pieces];
    const deltas = groups.map((group, at) => writer.delta(group, at === groups.length - 1 ? ending : null));
    return [...(first === null ? [] : [first]), ...deltas].map(event).join('');
  };
  return {
    sentStatus: 200,
    add(pieces) {
      if (pieces.length > 0) stream.write(eventsOf(pieces, null));
    },
    finish(ending) {
      const usage = includeUsage ? event(writer.usage(ending)) : '';
      stream.write(`${eventsOf(ending.lastPieces, ending)}${usage}data: [DONE]\n\n`);
      stream.end();
    },
    cut(pieces) {
      if (pieces.length > 1) stream.write(eventsOf(pieces.slice(0, -1), null));
      stream.cut(eventsOf(pieces.slice(-1), null));
    },
    endEarly: () => stream.end(),
    fail(refusal) {
      // As vLLM does it: the stream that failed ends like one that did not.
      stream.write(`data: ${errorBody(refusal)}\n\ndata: [DONE]\n\n`);
      stream.end();
    },
  };
}

export function wholeOutput(response: ServerResponse, { writer }: OutputOptions): ReplyOutput {
  const all: Piece[] = [];
  const sendHalf = (): void => {
    const ending = { finishReason: 'stop', stopReason: null, completionTokens: all.length, lastPieces: [] };
    const body = Buffer.from(JSON.stringify(writer.whole(all, ending)), 'utf8');
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
  };
  return {
    sentStatus: null,
    add: (pieces) => void all.push(...pieces),
    finish(ending) {
      all.push(...ending.lastPieces);
      sendJson(response, 200, JSON.stringify(writer.whole(all, ending)));
    },
    cut(pieces) {
      all.push(...pieces);
      sendHalf();
    },
    endEarly: sendHalf,
    fail: (refusal) => sendJson(response, refusal.status, errorBody(refusal)),
  };
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  const bytes = Buffer.from(body, 'utf8');
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
