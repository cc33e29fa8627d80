/**
 * Program: simulated pods for benches. Each reads the page it is sent to the end and answers a fixed result at once.
 * Prints one JSON line with its ports. Arguments: number of pods.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const count = Number(process.argv[2] ?? 3);
const answer = Buffer.from(
  JSON.stringify({
    text: 'simulated pod of the bench; nothing was read',
    markdown: 'simulated pod of the bench; nothing was read',
    confidence: null,
    width: 1_000,
    height: 1_000,
    dpi: 200,
    rotation: 0,
    engine: 'bench-simulated',
    engineMs: 0,
  }),
);

const ports: number[] = [];
for (let i = 0; i < count; i += 1) {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 511, resolve));
  ports.push((server.address() as AddressInfo).port);
}
process.stdout.write(`${JSON.stringify({ ports })}\n`);
