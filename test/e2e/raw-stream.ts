import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';

/** An answer on a connection of its own, of which nothing is taken before it is asked for. */
export interface RawStream {
  readonly response: IncomingMessage;
  /** Takes the next bytes, at least one; null at the end. */
  take(): Buffer | null;
  /** Reads to the end; rejects when the connection was cut. */
  rest(): Promise<WholeAnswer>;
}

interface WholeAnswer {
  readonly status: number | undefined;
  /** length of the body */
  readonly bytes: number;
  readonly sha256: string;
  /** its first characters, for who looks at a difference */
  readonly head: string;
}

const HEAD_BYTES = 500;

/** Resolves with the head of the answer. */
export async function openStream(url: string, body: object): Promise<RawStream> {
  const call = request(url, {
    ...{ method: 'POST', agent: false, headers: { 'content-type': 'application/json' } },
  });
  call.end(JSON.stringify(body));
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const hash = createHash('sha256');
  let bytes = 0;
  let head = '';
  const book = (chunk: Buffer): Buffer => {
    if (bytes < HEAD_BYTES) head += chunk.subarray(0, HEAD_BYTES - bytes).toString('latin1');
    bytes += chunk.length;
    hash.update(chunk);
    return chunk;
  };
  return {
    response,
    take() {
      const chunk = response.read() as Buffer | null;
      return chunk === null ? null : book(chunk);
    },
    async rest() {
      for await (const chunk of response) book(chunk as Buffer);
      return { status: response.statusCode, bytes, sha256: hash.digest('hex'), head };
    },
  };
}

/** Megabytes of main memory that each of these processes holds now. Linux only. */
export function memoryMb(pids: readonly number[]): number[] {
  return pids.map((pid) => {
    const [, kb = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kb) / 1_000);
  });
}
