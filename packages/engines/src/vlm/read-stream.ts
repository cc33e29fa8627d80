import { createParser } from 'eventsource-parser';
import { parsePiece, type ReplyPiece } from './completion-text.ts';
import { BrokenReply } from './model-server.ts';

/** An event holds a few tokens; more than this is no event. */
const MAX_EVENT_CHARS = 8 * 1024 * 1024;
const DONE = '[DONE]';

/**
 * The pieces of a streamed completion. Whoever stops listening closes the connection. Throws `BrokenReply` when it ends
 * without its mark: a stream that breaks off must not pass for a short reply (contract 2.1).
 */
export async function* readStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<ReplyPiece> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => void events.push(data),
    maxBufferSize: MAX_EVENT_CHARS,
  });
  for await (const chunk of body) {
    feed(parser, decoder.decode(chunk, { stream: true }));
    const come = events;
    events = [];
    for (const data of come) {
      if (data === DONE) return;
      yield parsePiece(data);
    }
  }
  throw new BrokenReply('the stream ended before its reply did');
}

function feed(parser: ReturnType<typeof createParser>, text: string): void {
  try {
    parser.feed(text);
  } catch (cause) {
    throw new BrokenReply('the stream is none of a model server', { cause });
  }
}
