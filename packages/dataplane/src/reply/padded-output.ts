import type { Exchange } from './exchange.ts';

/** Between two pieces of padding: below every idle limit on the way. */
const PADDING_INTERVAL_MS = 20_000;
/** An answer larger than this is sent as it grows, instead of being held until it is known to end well. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/**
 * An answer that is held back until it is known to end well, so that its status can tell; but official clients give up on
 * headers after 300 s, so a slow one sends them early and keeps the line alive with white space. From then on the
 * status is 200, and failures are told in the body.
 */
export interface PaddedOutput {
  /** headers are sent: the status can no longer tell anything */
  readonly committed: boolean;
  write(text: string): void;
  /** Sends what is held and everything after it at once. */
  commit(): void;
  /** Ends the answer. */
  finish(headers?: Record<string, string>): void;
  /** Gives up what is held; the exchange is answered by somebody else. */
  abandon(): void;
}

export interface PaddedOutputOptions {
  readonly contentType: string;
  /** harmless anywhere between two writes */
  readonly padding: string;
  readonly afterMs: number;
}

export function createPaddedOutput(exchange: Exchange, options: PaddedOutputOptions): PaddedOutput {
  let held: string[] = [];
  let heldBytes = 0;
  let committed = false;
  let timer = setTimeout(pad, options.afterMs);
  exchange.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  function pad(): void {
    commit();
    exchange.write(options.padding);
    timer = setTimeout(pad, PADDING_INTERVAL_MS);
  }

  function commit(): void {
    if (committed) return;
    committed = true;
    exchange.start(200, { 'content-type': options.contentType });
    for (const text of held) exchange.write(text);
    held = [];
  }

  return {
    get committed() {
      return committed;
    },
    write(text) {
      if (committed) {
        exchange.write(text);
        return;
      }
      held.push(text);
      heldBytes += text.length;
      if (heldBytes > MAX_HELD_BYTES) commit();
    },
    commit,
    finish(headers = {}) {
      clearTimeout(timer);
      if (committed) {
        exchange.end();
        return;
      }
      committed = true;
      const body = Buffer.from(held.join(''));
      const length = String(body.length);
      exchange.start(200, { 'content-type': options.contentType, 'content-length': length, ...headers });
      exchange.end(body);
    },
    abandon() {
      clearTimeout(timer);
      held = [];
    },
  };
}
