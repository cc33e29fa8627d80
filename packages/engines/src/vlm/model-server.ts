/** A model server as a reader sees it: OpenAI's chat completions over HTTP, wherever it runs and however it is reached. */
export interface ModelServer {
  /** By which the server is known again: what was learnt of it (R-072) is remembered as long as this lives. */
  readonly connection: object;
  /**
   * Sends one request and answers with its head; the body comes as it comes. Giving up the body, or the signal, closes the
   * connection, and the server ends the generation. What goes wrong on the way is thrown as it is.
   */
  post(request: ServerRequest): Promise<ServerResponse>;
}

export interface ServerRequest {
  /**
   * Makes the body, JSON, when it is about to be written; a fault of the page is thrown through `post` as it is. It holds a
   * picture of some megabytes and is needed for no longer: thousands of pages may be waiting for their replies.
   */
  encode(): Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

export interface ServerResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Of a server's own words, as much as fits a message. */
const SAID_CHARS = 200;

/** Why a request was refused, as vLLM and OpenAI's servers tell it; empty: it is told in no such way. */
function reasonIn(body: string): string {
  try {
    const { error, message } = JSON.parse(body) as {
      error?: { message?: unknown } | null;
      message?: unknown;
    };
    const said = error?.message ?? message;
    return typeof said === 'string' ? said.replace(/\s+/g, ' ').trim().slice(0, SAID_CHARS) : '';
  } catch {
    return '';
  }
}

/** An answer that is no reply: the server said why with this status. */
export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal';
  readonly status: number;
  /** the body as it came, cut to a length that a log can hold */
  readonly body: string;

  constructor(status: number, body: string) {
    const said = reasonIn(body);
    super(`the model server answered ${status}${said === '' ? '' : `: ${said}`}`);
    this.status = status;
    this.body = body;
  }
}

/** A reply that began and is no whole one: it broke off, carried an error, or was nothing that a model server says. */
export class BrokenReply extends Error {
  override readonly name = 'BrokenReply';
}

/** No answer, or not the whole of it, within the time that one request may take. The server may still be generating. */
export class ReplyTimeout extends Error {
  override readonly name = 'ReplyTimeout';
  readonly timeoutMs: number;

  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`the model server did not reply within ${timeoutMs} ms`, options);
    this.timeoutMs = timeoutMs;
  }
}
