import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { pooled, post } from './post.ts';
import { type RunningNginx, startNginx } from './start-nginx.ts';
import { answerSize, startUpstream, type Upstream } from './upstream.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

async function upstream(handle: Parameters<typeof startUpstream>[0]): Promise<Upstream> {
  const server = await startUpstream(handle);
  open.push(server);
  return server;
}

async function nginx(options: Parameters<typeof startNginx>[0]): Promise<RunningNginx> {
  const running = await startNginx(options);
  open.push({ close: () => running.stop() });
  return running;
}

const PAGE = Buffer.alloc(150_000, 65);
const named = (name: string) => async () =>
  upstream((request, response) => {
    request.resume();
    request.on('end', () => response.end(name));
  });
const [worker, backup, controller] = [named('worker'), named('backup'), named('controller')];

describe('nginx in front of the workers (R-002, R-003)', () => {
  test('exactly_the_five_page_paths_go_to_workers_and_all_else_to_the_controller', async () => {
    const [w, b, c] = [await worker(), await backup(), await controller()];
    const front = await nginx({ workers: [w.port], backup: b.port, controller: c.port });
    const paths = ['ocr', 'ocr/batch', 'chat/completions', 'completions', 'embeddings'];
    for (const path of paths) expect((await post(`${front.url}/v1/${path}`, PAGE)).text).toBe('worker');
    for (const path of [
      '/v1/ocr/',
      '/v1/ocrx',
      '/v1/ocr/batch/x',
      '/v1/models',
      '/healthz',
      '/v1/fleet/scale',
    ]) {
      expect((await post(`${front.url}${path}`, PAGE)).text, path).toBe('controller');
    }
    expect(b.seen).toEqual([]);
  });

  test('a_refused_connection_goes_to_the_next_worker_and_then_to_the_backup', async () => {
    const [dead = 0, deadToo = 0] = await freePorts(2);
    const [w, b, c] = [await worker(), await backup(), await controller()];
    const one = await nginx({ workers: [dead, w.port], backup: b.port, controller: c.port });
    for (let n = 0; n < 20; n += 1) expect((await post(`${one.url}/v1/ocr`, PAGE)).text).toBe('worker');
    const none = await nginx({ workers: [dead, deadToo], backup: b.port, controller: c.port });
    for (let n = 0; n < 5; n += 1) expect((await post(`${none.url}/v1/ocr`, PAGE)).text).toBe('backup');
  });

  test('one_refusal_does_not_take_a_worker_out_of_rotation', async () => {
    const [port = 0] = await freePorts(1);
    const [b, c] = [await backup(), await controller()];
    const front = await nginx({ workers: [port], backup: b.port, controller: c.port });
    expect((await post(`${front.url}/v1/ocr`, PAGE)).text).toBe('backup');
    const late = createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nlate'));
    });
    await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve));
    open.push({ close: () => new Promise((resolve) => late.close(() => resolve())) });
    expect((await post(`${front.url}/v1/ocr`, Buffer.from('x'))).text).toBe('late');
  });

  test('a_post_that_was_sent_is_never_sent_again_when_the_worker_dies', async () => {
    const dying = await upstream((request, response) => {
      request.resume();
      request.on('end', () => response.socket?.destroy());
    });
    const [b, c] = [await backup(), await controller()];
    const front = await nginx({ workers: [dying.port], backup: b.port, controller: c.port });
    const answer = await post(`${front.url}/v1/ocr`, PAGE, { headers: { 'x-request-id': 'mine-1' } });
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'process_lost', request_id: 'mine-1' });
    expect(dying.seen).toHaveLength(1);
    expect(b.seen).toEqual([]);
  });

  test('a_timeout_never_goes_to_another_worker', async () => {
    const silent = await upstream((request) => request.resume());
    const [b, c] = [await backup(), await controller()];
    const env = { PAGEFLEET_LIMITS_PAGE_DEADLINE: '1s', PAGEFLEET_LIMITS_MAX_WAIT: '0' };
    const front = await nginx({ workers: [silent.port], backup: b.port, controller: c.port, env });
    // Sized as 2 × deadline + a minute; a test may not wait for that.
    const slow = post(`${front.url}/v1/ocr`, PAGE).catch((error: Error) => error);
    await sleep(1_500);
    expect(silent.seen).toHaveLength(1);
    expect(b.seen).toEqual([]);
    front.master().kill('SIGTERM');
    await slow;
    expect(b.seen).toEqual([]);
  });
});

describe('errors that nginx makes itself', () => {
  test('a_body_over_the_limit_is_413_with_a_code', async () => {
    const [w, b, c] = [await worker(), await backup(), await controller()];
    const env = { PAGEFLEET_LIMITS_MAX_BODY: '1MB' };
    const front = await nginx({ workers: [w.port], backup: b.port, controller: c.port, env });
    const answer = await post(`${front.url}/v1/ocr`, Buffer.alloc(1_000_001));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toMatchObject({ object: 'error', code: 'payload_too_large' });
    expect((await post(`${front.url}/v1/ocr`, Buffer.alloc(1_000_000))).status).toBe(200);
  });

  test('while_every_process_starts_it_is_503_with_retry_after (R-008)', async () => {
    const [worker = 0, back = 0, control = 0] = await freePorts(3);
    const front = await nginx({ workers: [worker], backup: back, controller: control });
    for (const path of ['/v1/ocr', '/healthz']) {
      const answer = await post(`${front.url}${path}`, Buffer.from('x'));
      expect(answer.status).toBe(503);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'starting' });
    }
  });

  test('a_malformed_request_is_400_with_a_code', async () => {
    const [w, b, c] = [await worker(), await backup(), await controller()];
    const front = await nginx({ workers: [w.port], backup: b.port, controller: c.port });
    const answer = await post(`${front.url}/v1/ocr`, Buffer.from('x'), {
      headers: { 'x-long': 'y'.repeat(70_000) },
    });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'bad_request' });
    expect(w.seen).toEqual([]);
  });

  test('an_error_that_a_worker_makes_passes_unchanged', async () => {
    const failing = await upstream((request, response) => {
      request.resume();
      request.on('end', () => {
        response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '9' });
        response.end('{"code":"no_capacity"}');
      });
    });
    const [b, c] = [await backup(), await controller()];
    const front = await nginx({ workers: [failing.port], backup: b.port, controller: c.port });
    const answer = await post(`${front.url}/v1/ocr`, PAGE);
    expect([answer.status, answer.headers['retry-after'], answer.text]).toEqual([
      503,
      '9',
      '{"code":"no_capacity"}',
    ]);
  });
});

describe('a refusal before the body is read (R-013, DESIGN 7.1)', () => {
  const WIDTH = { 'x-ocr-page-width': '4', 'x-ocr-queue-limit': '8', 'x-ocr-pages-in-flight': '4' };

  /** As a worker refuses: answers at once, then reads and drops. */
  const refusing = (announce: boolean) => {
    let n = 0;
    return upstream((request, response) => {
      n += 1;
      if (n % 2 === 0) return answerSize(request, response);
      const body = '{"object":"error","code":"queue_full"}';
      const place = announce ? { 'x-accel-redirect': '@refused_429', 'x-refusal': body } : {};
      response.writeHead(429, { ...WIDTH, ...place, 'retry-after': '7', 'x-ocr-pages-queued': '8' });
      response.end(body);
      request.resume();
    });
  };

  async function flood(announce: boolean, requests: number): Promise<Record<string, number>> {
    const [w1, w2] = [await refusing(announce), await refusing(announce)];
    const [b, c] = [await backup(), await controller()];
    const front = await nginx({ workers: [w1.port, w2.port], backup: b.port, controller: c.port });
    const agent = pooled(40);
    const counts: Record<string, number> = {};
    let left = requests;
    const client = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const outcome = await post(`${front.url}/v1/ocr`, Buffer.alloc(300_000), { agent }).then(
          (answer) => String(answer.status),
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        );
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 40 }, client));
    agent.destroy();
    return counts;
  }

  test('a_flood_of_pooled_clients_meets_429_and_nothing_unclean', async () => {
    const counts = await flood(true, 600);
    expect(Object.keys(counts).sort()).toEqual(['200', '429']);
    expect((counts['200'] ?? 0) + (counts['429'] ?? 0)).toBe(600);
  });

  test('the_answer_closes_the_connection_and_carries_headers_and_body_of_the_worker', async () => {
    const w = await refusing(true);
    const [b, c] = [await backup(), await controller()];
    const front = await nginx({ workers: [w.port], backup: b.port, controller: c.port });
    const answer = await post(`${front.url}/v1/ocr`, PAGE);
    expect(answer.status).toBe(429);
    expect(answer.headers).toMatchObject({ ...WIDTH, connection: 'close', 'retry-after': '7' });
    expect(answer.headers['x-refusal']).toBeUndefined();
    expect(JSON.parse(answer.text)).toEqual({ object: 'error', code: 'queue_full' });
  });
});
