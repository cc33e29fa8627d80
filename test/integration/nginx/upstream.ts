import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Upstream {
  readonly port: number;
  /** requests that arrived, by path */
  readonly seen: string[];
  close(): Promise<void>;
}

/** A tiny server in a worker's place. */
export async function startUpstream(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Upstream> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    seen.push(request.url ?? '');
    request.on('error', () => undefined);
    handle(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Reads the body to its end and answers with its size. */
export function answerSize(request: IncomingMessage, response: ServerResponse): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
  });
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ size, id: request.headers['x-request-id'] }));
  });
}
