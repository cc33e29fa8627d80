import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';

export interface LosingProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Stands before an API: everything reaches it and is carried out, and the answer to a rent is cut off. */
export async function openLosingProxy(target: string): Promise<LosingProxy> {
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const { host: _, 'content-length': __, connection: ___, ...headers } = incoming.headers;
    const isRent = body.includes('mutation Rent') || (incoming.method === 'POST' && incoming.url === '/pods');
    const answer = await request(`${target}${incoming.url === '/' ? '' : incoming.url}`, {
      method: incoming.method as 'POST',
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    const text = await answer.body.text();
    if (isRent) return incoming.socket.destroy();
    outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
