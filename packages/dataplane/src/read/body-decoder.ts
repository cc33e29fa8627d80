import { cpus } from 'node:os';
import { PagefleetError } from '@pagefleet/contract';
import { Piscina } from 'piscina';
import { reviveError } from '../carried-error.ts';
import { type ChatHead, parseChatHead } from '../chat/parse-chat-head.ts';
import { type DecodeResult, type DecodeTask, decodeBody } from './decode-thread.ts';
import { type HeldBytes, joined, readAll } from './held-bytes.ts';
import type { ParsedItem } from './parse-ocr-body.ts';

/** Up to this size a body is parsed on the loop: a copy into a thread and back would cost more (50 MB block it 100 ms). */
const ON_LOOP_MAX_BYTES = 256 * 1024;
/** Base64 text, its string and the decoded bytes of the largest body, in one thread. */
const THREAD_HEAP_MB = 2_048;

export interface BodyDecoder {
  /** `maxDocuments` null = one request, else a batch. Rejects with what is wrong with the body as a whole. */
  decode(body: HeldBytes, maxDocuments: number | null, signal: AbortSignal): Promise<ParsedItem[]>;
  /** Where a request for a chat goes; rejects as `parseChatHead` throws. */
  chatHead(body: HeldBytes, signal: AbortSignal): Promise<ChatHead>;
  close(): Promise<void>;
}

export function createBodyDecoder(): BodyDecoder {
  const pool = new Piscina<DecodeTask, DecodeResult>({
    filename: new URL('./decode-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: Math.min(2, cpus().length),
    idleTimeout: 30_000,
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  // A thread that breaks while it has no task fails nobody, and must not end the process.
  pool.on('error', () => undefined);

  async function inThread(body: HeldBytes, want: DecodeTask['want'], signal: AbortSignal) {
    const source = body.place === 'file' ? { path: body.path } : { bytes: joined(body) };
    const result = await pool.run({ source, want }, { signal }).catch((cause) => {
      throw signal.aborted ? signal.reason : threadFailure(cause);
    });
    if ('error' in result) throw reviveError(result.error);
    return result;
  }

  return {
    async decode(body, maxDocuments, signal) {
      if (body.size <= ON_LOOP_MAX_BYTES) return decodeBody(await readAll(body), maxDocuments);
      const result = await inThread(body, { kind: 'documents', maxDocuments }, signal);
      if (!('items' in result)) throw otherQuestion();
      return result.items.map((item) => ('error' in item ? { error: reviveError(item.error) } : item));
    },
    async chatHead(body, signal) {
      if (body.size <= ON_LOOP_MAX_BYTES) return parseChatHead(await readAll(body));
      const result = await inThread(body, { kind: 'chat' }, signal);
      if (!('head' in result)) throw otherQuestion();
      return result.head;
    },
    close: () => pool.close({ force: true }),
  };
}

function otherQuestion(): PagefleetError {
  return new PagefleetError('internal', 'the thread answered another question');
}

function threadFailure(cause: unknown): PagefleetError {
  return new PagefleetError(
    'local_shortage',
    'the body could not be parsed: its thread ran out of memory or ended',
    {
      cause,
    },
  );
}
