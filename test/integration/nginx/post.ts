import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export const pooled = (maxSockets = 50): Agent => new Agent({ keepAlive: true, maxSockets });

/** Node's plain client: with a pooled agent it reuses a connection as soon as it may, which is what shows a dirty one. */
export function post(
  url: string,
  body: Uint8Array,
  options: { agent?: Agent; headers?: object } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      {
        method: 'POST',
        agent: options.agent ?? false,
        headers: { 'content-length': body.length, 'content-type': 'application/pdf', ...options.headers },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.on('error', reject);
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
