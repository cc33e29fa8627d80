import { createParser } from 'eventsource-parser';
import { parsePiece, type ReplyPiece } from './completion-text.ts';
import { BrokenReply } from './model-server.ts';

/** An event holds a few tokens; more than this is no event. */
const MAX_EVENT_CHARS = 8 * 1024 * 1024;
const DONE = '[DONE]';
/** The end of the body follows its mark at once; a connection read to its end can be used again. */
const END_WAIT_MS = 1_000;

/**
 * The pieces of a streamed completion. Whoever stops listening closes the connection. Throws `BrokenReply` when it ends
 * without its mark: a stream that breaks off must not pass for a short reply (contract 2.1).
 */
export async function* readStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<ReplyPiece> {
  const decoder = new TextDecoder();
  const chunks = body[Symbol.asyncIterator]();
  let events: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => void events.push(data),
    maxBufferSize: MAX_EVENT_CHARS,
  });
  let isOver = false;
  try {
    for (;;) {
      const next = await chunks.next();
      isOver = next.done === true;
      if (next.done) break;
      feed(parser, decoder.decode(next.value, { stream: true }));
      const come = events;
      events = [];
      for (const data of come) {
        if (data !== DONE) {
          yield parsePiece(data);
          continue;
        }
        isOver = true;
        // A read that is still waiting is not waited for.
        if (!(await endsSoon(chunks))) void chunks.return?.();
        return;
      }
    }
  } finally {
    if (!isOver) await chunks.return?.();
  }
  throw new BrokenReply('the stream ended before its reply did');
}

/** The reply is whole: whatever the connection does now says nothing about it. */
async function endsSoon(chunks: AsyncIterator<Uint8Array>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, END_WAIT_MS, false);
  });
  const end = chunks.next().then(
    ({ done }) => done === true,
    () => true,
  );
  return await Promise.race([end, late]).finally(() => clearTimeout(timer));
}

function feed(parser: ReturnType<typeof createParser>, text: string): void {
  try {
    parser.feed(text);
  } catch (cause) {
    throw new BrokenReply('the stream is none of a model server', { cause });
  }
}
