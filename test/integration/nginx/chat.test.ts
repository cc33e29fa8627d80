import { once } from 'node:events';
import { request } from 'node:http';
import { freePorts } from '@pagefleet/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { post } from './post.ts';
import { startNginx } from './start-nginx.ts';
import { startUpstream } from './upstream.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

describe('a chat through nginx', () => {
  test('an_error_of_nginx_has_openais_shape_there_and_ours_elsewhere', async () => {
    const [worker = 0, backup = 0, controller = 0] = await freePorts(3);
    const front = await startNginx({ workers: [worker], backup, controller });
    open.push(() => front.stop());
    for (const path of ['chat/completions', 'completions?x=1', 'embeddings']) {
      const { status, text } = await post(`${front.url}/v1/${path}`, Buffer.from('{}'));
      expect([status, JSON.parse(text)], path).toMatchObject([
        503,
        { error: { code: 'starting', type: 'server_error', message: expect.any(String) } },
      ]);
    }
    expect(JSON.parse((await post(`${front.url}/v1/ocr`, Buffer.from('x'))).text)).toMatchObject({
      code: 'starting',
    });
  });

  test('each_event_comes_when_it_is_written_and_a_hang_up_reaches_the_worker_at_once', async () => {
    let closed = (): void => undefined;
    const hungUp = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const worker = await startUpstream((request, response) => {
      request.resume();
      response.on('close', closed);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    open.push(() => worker.close());
    const [backup = 0, controller = 0] = await freePorts(2);
    const front = await startNginx({ workers: [worker.port], backup, controller });
    open.push(() => front.stop());
    const call = request(`${front.url}/v1/chat/completions`, { method: 'POST', agent: false });
    call.on('error', () => undefined);
    call.end('{}');
    const [response] = (await once(call, 'response')) as [NodeJS.ReadableStream];
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('data: 1\n\n');
    call.destroy();
    await hungUp;
  });
});
