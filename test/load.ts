import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import sharp from 'sharp';

/** The least page there is, for tests that count pages and read none. */
export function whitePage(): Promise<Buffer> {
  return sharp({ create: { width: 64, height: 64, channels: 3, background: 'white' } })
    .png()
    .toBuffer();
}

/** One request, sent once: this client never retries, so nothing is hidden. */
export interface Shot {
  readonly requestId: string;
  readonly status: number | null;
  /** error code of the body, or the socket's error */
  readonly code: string | null;
  readonly retryable: boolean;
  readonly startedMs: number;
  readonly endedMs: number;
  /** the whole answer was read and every page in it was read */
  readonly ok: boolean;
}

export interface LoadOptions {
  readonly url: string;
  readonly body: Buffer;
  readonly contentType: string;
  readonly concurrency: number;
  /** a fresh connection each time leaves no keep-alive race of the client's own; default: pooled */
  readonly keepAlive?: boolean;
  readonly headers?: Record<string, string>;
}

export interface Load {
  readonly shots: readonly Shot[];
  open(): number;
  /** Sends nothing new and waits for what is open. */
  stop(): Promise<readonly Shot[]>;
}

/** Keeps `concurrency` requests open until stopped. */
export function startLoad(options: LoadOptions): Load {
  const agent = new Agent({ keepAlive: options.keepAlive ?? true, maxSockets: options.concurrency });
  const shots: Shot[] = [];
  let stopping = false;
  let open = 0;
  const lane = async () => {
    while (!stopping) {
      open += 1;
      const shot = await shoot(options, agent);
      open -= 1;
      shots.push(shot);
      // A refusal in no time must not turn the load into a busy loop.
      if (!shot.ok) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const lanes = Array.from({ length: options.concurrency }, lane);
  return {
    shots,
    open: () => open,
    async stop() {
      stopping = true;
      await Promise.all(lanes);
      agent.destroy();
      return shots;
    },
  };
}

/** Sends one request and says how it ended; never rejects. */
export function shoot(options: LoadOptions, agent?: Agent): Promise<Shot> {
  const requestId = randomUUID();
  const startedMs = Date.now();
  return new Promise((resolve) => {
    const end = (status: number | null, code: string | null, retryable: boolean, ok: boolean) =>
      resolve({ requestId, status, code, retryable, startedMs, endedMs: Date.now(), ok });
    const headers = {
      'content-type': options.contentType,
      'content-length': options.body.length,
      'x-request-id': requestId,
      ...options.headers,
    };
    const outgoing = request(
      options.url,
      { method: 'POST', headers, ...(agent ? { agent } : {}) },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('error', (error: NodeJS.ErrnoException) =>
          end(incoming.statusCode ?? null, error.code ?? 'cut', true, false),
        );
        incoming.on('end', () => {
          const status = incoming.statusCode ?? 0;
          const code = errorCodeOf(Buffer.concat(parts));
          end(status, code, [429, 502, 503, 504].includes(status), status === 200 && code === null);
        });
      },
    );
    outgoing.on('error', (error: NodeJS.ErrnoException) => end(null, error.code ?? 'cut', true, false));
    outgoing.end(options.body);
  });
}

function errorCodeOf(body: Buffer): string | null {
  try {
    const parsed = JSON.parse(body.toString()) as { code?: string; pages?: { error?: { code: string } }[] };
    return parsed.code ?? parsed.pages?.find((page) => page.error)?.error?.code ?? null;
  } catch {
    return 'body_is_not_json';
  }
}
