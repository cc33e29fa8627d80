import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OcrLine } from '@pagefleet/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { createClient } from './create-client.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Answers the first request with the first handler, and so on. */
async function serve(
  ...handlers: Handler[]
): Promise<{ url: string; seen: { url: string; size: number }[] }> {
  const seen: { url: string; size: number }[] = [];
  const server = createServer((request, response) => {
    const handle = handlers[Math.min(seen.length, handlers.length - 1)];
    const entry = { url: request.url ?? '', size: 0 };
    seen.push(entry);
    request.on('data', (chunk: Buffer) => {
      entry.size += chunk.length;
    });
    request.on('end', () => handle?.(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const page = (index: number) =>
  `${JSON.stringify({ type: 'page', index, markdown: `page ${index}`, images: [], dimensions: null })}\n`;
const END =
  '{"type":"document","pages":2,"failed":0}\n\n{"type":"done","documents":1,"pages":2,"failed":0,"request_id":"r"}\n';

async function read(url: string, extra: object = {}): Promise<OcrLine[]> {
  const client = createClient({ url });
  open.push(() => client.close());
  const body = Buffer.from('a document');
  const lines: OcrLine[] = [];
  for await (const line of client.readDocument({ body: () => body, contentLength: body.length, ...extra })) {
    lines.push(line);
  }
  return lines;
}

const kinds = (lines: OcrLine[]) => lines.map((line) => (line.type === 'page' ? line.index : line.type));

describe('reading a document (R-080)', () => {
  test('lines_arrive_as_they_come_and_blank_ones_mean_nothing', async () => {
    const server = await serve((_, response) => {
      response.write(`\n\n${page(1)}${page(0).slice(0, 10)}`);
      setTimeout(() => response.end(page(0).slice(10) + END), 20);
    });
    expect(kinds(await read(server.url, { pages: '0-1', languages: ['deu', 'eng'] }))).toEqual([
      1,
      0,
      'document',
      'done',
    ]);
    expect(server.seen).toEqual([{ url: '/v1/ocr?pages=0-1&languages=deu%2Ceng', size: 10 }]);
  });

  test('a_refusal_is_waited_out_and_the_whole_body_is_sent_again', async () => {
    const server = await serve(
      (_, response) =>
        response.writeHead(429, { 'retry-after': '0' }).end('{"code":"queue_full","message":"full"}'),
      (_, response) => response.end(page(0) + page(1) + END),
    );
    const waits: string[] = [];
    await read(server.url, { onWait: (failure: { message: string }) => waits.push(failure.message) });
    expect(server.seen.map(({ size }) => size)).toEqual([10, 10]);
    expect(waits).toEqual(['full']);
  });

  test('an_answer_that_breaks_off_is_asked_for_again_and_no_page_comes_twice', async () => {
    const server = await serve(
      (_, response) => {
        response.write(page(0));
        setTimeout(() => response.destroy(), 20);
      },
      (_, response) => response.end(page(0) + page(1) + END),
    );
    expect(kinds(await read(server.url))).toEqual([0, 1, 'document', 'done']);
  });

  test('a_clean_end_without_the_last_line_is_no_end', async () => {
    const server = await serve(
      (_, response) => response.end(page(0)),
      (_, response) => response.end(page(0) + page(1) + END),
    );
    expect(kinds(await read(server.url))).toEqual([0, 1, 'document', 'done']);
  });

  test('a_final_error_keeps_its_code_and_message', async () => {
    const server = await serve((_, response) =>
      response.writeHead(400).end('{"code":"document_encrypted","message":"needs a password"}'),
    );
    await expect(read(server.url)).rejects.toMatchObject({
      code: 'document_encrypted',
      message: 'needs a password',
    });
    expect(server.seen).toHaveLength(1);
  });

  test('an_address_where_nobody_ever_answered_is_an_error_at_once', async () => {
    await expect(read('http://127.0.0.1:1')).rejects.toMatchObject({
      code: 'unreachable',
      message: 'Nothing answers at http://127.0.0.1:1: the connection was refused.',
    });
    await expect(read('http://nowhere.invalid')).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('a_connection_that_broke_under_the_request_is_a_lost_process', async () => {
    const server = await serve((_, response) => response.socket?.destroy());
    await expect(read(server.url)).rejects.toMatchObject({ code: 'process_lost' });
  });

  test('it_can_be_stopped_while_it_waits', async () => {
    const server = await serve((_, response) => response.writeHead(429, { 'retry-after': '60' }).end('{}'));
    const stop = new AbortController();
    const reading = read(server.url, { signal: stop.signal, onWait: () => stop.abort(new Error('stopped')) });
    await expect(reading).rejects.toThrow();
  });
});
