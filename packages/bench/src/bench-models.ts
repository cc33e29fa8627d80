/**
 * Program: simulated stock pods for benches. Each reads a chat completion with a page's picture to the end and answers a
 * fixed reply as a stream, after a wait. Prints one JSON line with its ports. Arguments: number of pods, wait in ms.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const [count, waitMs] = [Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 0)];

/** In the shape of Surya's replies; says what it is. */
const TEXT = '<div data-label="Text" data-bbox="0 0 1000 1000"><p>simulated model of the bench</p></div>';
const frame = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'bench', object: 'chat.completion.chunk', choices: [{ index: 0, finish_reason: null, ...choice }], ...more })}\n\n`;
const stream = [
  frame({ delta: { role: 'assistant', content: '' } }),
  ...(TEXT.match(/.{1,12}/g) ?? []).map((content) => frame({ delta: { content } })),
  frame({ delta: {}, finish_reason: 'stop' }),
  'data: [DONE]\n\n',
].join('');

const ports: number[] = [];
for (let i = 0; i < count; i += 1) {
  const server = createServer(async (request, response) => {
    for await (const _chunk of request);
    await sleep(waitMs);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(stream);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 2_048, resolve));
  ports.push((server.address() as AddressInfo).port);
}
process.stdout.write(`${JSON.stringify({ ports })}\n`);
