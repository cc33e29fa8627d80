import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ERRORS, type ErrorBody } from '@pagefleet/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunningNginx, startNginx } from './start-nginx.ts';
import { answerSize, startUpstream, type Upstream } from './upstream.ts';

let upstream: Upstream;
let front: RunningNginx;
const answers: { closed: boolean; finished: boolean }[] = [];
const SLOW = '/v1/ocr?slow';

beforeEach(async () => {
  answers.length = 0;
  upstream = await startUpstream((request, response) => {
    const seen = { closed: false, finished: false };
    answers.push(seen);
    response.on('close', () => Object.assign(seen, { closed: true, finished: response.writableFinished }));
    if (request.url !== SLOW) answerSize(request, response);
  });
  front = await startNginx({ workers: [upstream.port], backup: upstream.port, controller: upstream.port });
});
afterEach(async () => {
  await front.stop();
  await upstream.close();
});

async function open(text: string): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect({ port: front.port, host: '127.0.0.1', allowHalfOpen: true });
  let answered = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    answered += part;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return { socket, answer: once(socket, 'end').then(() => answered) };
}

async function ask(text: string): Promise<{ status: number; head: string; body: string }> {
  const { socket, answer } = await open(text);
  const [head = '', body = ''] = (await answer).split('\r\n\r\n');
  socket.destroy();
  return { status: Number(head.split(' ')[1]), head, body };
}

describe('requests that are hardly HTTP', () => {
  test('one_of_http_1_0_without_a_host_is_served', async () => {
    const answer = await ask('POST /v1/ocr HTTP/1.0\r\nContent-Length: 2\r\n\r\nab');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ size: 2 });
  });

  test.each([
    ['another_version', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n', 'bad_request'],
    ['no_host', 'GET / HTTP/1.1\r\n\r\n', 'bad_request'],
    ['a_path_too_long', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 'bad_request'],
    ['tls', '\x16\x03\x01\x02\r\n\r\n', 'bad_request'],
    ['an_unknown_coding', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n', 'unsupported'],
    ['trace', 'TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 'method_not_allowed'],
    ['no_chunk', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'bad_request'],
  ] as const)('%s_is_answered_from_the_catalogue', async (_name, text, code) => {
    const { status, head, body } = await ask(text);
    expect(status).toBe(ERRORS[code].httpStatus);
    const said = JSON.parse(body) as ErrorBody;
    expect(said).toMatchObject({ object: 'error', code, param: null });
    expect(/^x-request-id: (\S+)/im.exec(head)?.[1]).toBe(said.request_id);
    expect(upstream.seen).toEqual([]);
  });
});

/** nginx cannot tell one from the other, and a page for nobody must give its slot back. */
describe('a client that closes its connection', () => {
  const REQUEST = `POST ${SLOW} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab`;

  test.each([
    ['wholly', (socket: Socket) => socket.destroy()],
    ['for_sending_only', (socket: Socket) => socket.end()],
  ])('%s_is_noticed_by_the_worker_at_once', async (_name, close) => {
    const { socket, answer } = await open(REQUEST);
    await expect.poll(() => answers.length).toBe(1);
    close(socket);
    await expect.poll(() => answers[0]).toEqual({ closed: true, finished: false });
    if (!socket.destroyed) expect(await answer).toBe('');
    socket.destroy();
  });
});
