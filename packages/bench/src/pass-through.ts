/**
 * Program: the peer of the forwarding bench. Bare Node HTTP in, undici out, bodies streamed through, pods taken in turn;
 * no admission, no slots, no metrics. Arguments: comma separated pod ports. Prints one JSON line with its port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const pods = (process.argv[2] ?? '')
  .split(',')
  .map((port) => new Pool(`http://127.0.0.1:${port}`, { connections: 64, pipelining: 1 }));
let turn = 0;

const server = createServer((request, response) => {
  const pod = pods[turn++ % pods.length];
  if (!pod) throw new Error('no pod port given');
  const headers = {
    'content-type': request.headers['content-type'] ?? 'application/octet-stream',
    'content-length': request.headers['content-length'] ?? '0',
  };
  pod
    .stream(
      { method: 'POST', path: '/v1/page', headers, body: request },
      ({ statusCode, headers: answered }) => {
        response.writeHead(statusCode, {
          'content-type': String(answered['content-type']),
          'content-length': String(answered['content-length']),
        });
        return response;
      },
    )
    .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
});
server.keepAliveTimeout = 60_000;
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 511, resolve));
process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
