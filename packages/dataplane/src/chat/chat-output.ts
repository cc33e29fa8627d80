import { type PagefleetError, toOpenAiError } from '@pagefleet/contract';
import type { Exchange } from '../reply/exchange.ts';

/** Between two pieces of padding: below every idle limit on the way. */
const PADDING_INTERVAL_MS = 20_000;
const JSON_TYPE = 'application/json';

interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
  /** null: not known before its end */
  readonly length: number | null;
}

/**
 * The client’s side of a chat request. Bytes of a pod pass as they are; once the first has, no other pod may answer. A
 * buffered answer that takes long sends its headers early and is padded with white space; a stream is not: its
 * headers come with the pod’s.
 */
export interface ChatOutput {
  /** something of a pod’s answer has been sent */
  readonly isBegun: boolean;
  /** False when the answer no longer fits what was sent: nothing may follow then but `fail`. */
  begin(head: AnswerHead): boolean;
  /** Resolves when the client can take more, or the signal is raised. */
  write(chunk: Uint8Array, signal?: AbortSignal): Promise<void>;
  end(): void;
  /** By the status while that is possible, by an error event in a stream, else by a cut connection: never a clean end. */
  fail(error: PagefleetError): void;
  close(): void;
}

export function createChatOutput(exchange: Exchange, padAfterMs: number | null): ChatOutput {
  let isBegun = false;
  let isStream = false;
  let timer = padAfterMs === null ? undefined : setTimeout(pad, padAfterMs);

  function pad(): void {
    if (!exchange.started) exchange.start(200, { 'content-type': JSON_TYPE });
    exchange.write(' ');
    timer = setTimeout(pad, PADDING_INTERVAL_MS);
  }

  function failStream(error: PagefleetError): void {
    // An event that broke off ends at the blank line; to a whole one it adds nothing.
    exchange.write(`\n\ndata: ${JSON.stringify(toOpenAiError(error, exchange.requestId))}\n\n`);
    exchange.end();
  }

  return {
    get isBegun() {
      return isBegun;
    },
    begin({ status, contentType, length }) {
      clearTimeout(timer);
      if (exchange.started) {
        const fits = status === 200 && contentType.startsWith(JSON_TYPE);
        isBegun = fits;
        return fits;
      }
      isBegun = true;
      isStream = contentType.startsWith('text/event-stream');
      const size = length === null ? {} : { 'content-length': String(length) };
      exchange.start(status, { 'content-type': contentType, ...size });
      exchange.flush();
      return true;
    },
    write(chunk, signal) {
      exchange.write(chunk);
      return exchange.drained(signal);
    },
    end: () => exchange.end(),
    fail(error) {
      clearTimeout(timer);
      if (!exchange.started) exchange.fail(error);
      else if (isStream) failStream(error);
      else exchange.cut();
    },
    close: () => clearTimeout(timer),
  };
}
