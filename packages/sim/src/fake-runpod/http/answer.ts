import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a service answers. */
export type Answer =
  | { readonly kind: 'sent' }
  | { readonly kind: 'cut' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** absent = no body */
      readonly body?: string;
    };

export const CUT: Answer = { kind: 'cut' };
/** The handler wrote the response itself. */
export const SENT: Answer = { kind: 'sent' };

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return {
    kind: 'answer',
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

export function html(status: number, headers: Record<string, string> = {}): Answer {
  const body = `<!DOCTYPE html>\n<html><head><title>Error ${status}</title></head><body><h1>${status}</h1></body></html>\n`;
  return {
    kind: 'answer',
    status,
    headers: { 'content-type': 'text/html; charset=UTF-8', ...headers },
    body,
  };
}

export function text(status: number, body: string): Answer {
  return { kind: 'answer', status, headers: { 'content-type': 'text/plain; charset=UTF-8' }, body };
}

export const NO_CONTENT: Answer = { kind: 'answer', status: 204 };

export function withHeaders(answer: Answer, headers: Readonly<Record<string, string>>): Answer {
  return answer.kind === 'answer' ? { ...answer, headers: { ...answer.headers, ...headers } } : answer;
}

export function sendAnswer(response: ServerResponse, answer: Answer): void {
  if (answer.kind === 'sent') return;
  if (answer.kind === 'cut') return void response.destroy();
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.body === undefined ? {} : { 'content-length': Buffer.byteLength(answer.body) }),
  });
  response.end(answer.body);
}

/** Null: it is longer than allowed. The rest is still read, so that the answer arrives. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes <= maxBytes) chunks.push(chunk as Buffer);
  }
  return bytes > maxBytes ? null : Buffer.concat(chunks).toString('utf8');
}
