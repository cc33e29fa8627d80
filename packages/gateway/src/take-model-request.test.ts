import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ask, inside, open, pageHeaders, type Started, startPod, until } from './gateway-kit.ts';

const CHAT = '/v1/chat/completions';
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };

const startModelPod = (): Promise<Started> => startPod({ engine: 'surya', width: 2 });

function chat(pod: Started, id: string, body = '{"model":"surya"}', path = CHAT) {
  const headers = pageHeaders(id, { 'content-type': 'application/json; charset=utf-8' });
  const request = httpRequest({
    host: '127.0.0.1',
    port: pod.port,
    agent: pod.agent,
    method: 'POST',
    path,
    headers,
  });
  request.on('error', () => undefined);
  const response = once(request, 'response').then(([head]) => head as IncomingMessage);
  response.catch(() => undefined);
  request.end(body);
  return { request, response };
}

async function refusalOf({ response }: ReturnType<typeof chat>) {
  const head = await response;
  return { status: head.statusCode, body: JSON.parse(await readAll(head)) };
}

async function forwardedOf(pod: Started, n = 1) {
  await until(() => pod.forwarded.length === n);
  const [last] = pod.forwarded.slice(-1);
  if (last === undefined) throw new Error('nothing was passed on');
  return last;
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a request to the model server of a pod (R-024)', () => {
  it.each([CHAT, '/v1/completions', '/v1/embeddings'])('%s_passes_as_bytes_both_ways', async (path) => {
    const pod = await startModelPod();
    const sent = '{ "model": "surya",\n "odd": 1.0,"text":"ä" }';
    const { response } = chat(pod, 'c1', sent, path);
    const { request, answer } = await forwardedOf(pod);
    expect(request).toMatchObject({ path, contentType: 'application/json; charset=utf-8' });
    expect(Buffer.from(request.body).toString()).toBe(sent);
    const body = new PassThrough();
    answer({ status: 418, headers: EVENTS, body });
    body.write('data: {"a":');
    const head = await response;
    expect([head.statusCode, head.headers['content-type']]).toEqual([418, EVENTS['content-type']]);
    body.end('1}\n\ndata: [DONE]\n\n');
    expect(await readAll(head)).toBe('data: {"a":1}\n\ndata: [DONE]\n\n');
    await until(() => inside(pod)[0] === 0);
    expect(pod.events('model_answered')[0]).toMatchObject({ status: 418, outcome: 'sent' });
  });

  it('it_takes_a_slot_until_its_answer_is_over_and_a_full_pod_refuses', async () => {
    const pod = await startModelPod();
    const chats = ['c1', 'c2', 'c3', 'c4'].map((id) => chat(pod, id));
    const second = await forwardedOf(pod, 2);
    await until(() => inside(pod)[1] === 2);
    expect((await ask(pod, 'POST', CHAT, pageHeaders('c5'))).body).toMatchObject({ code: 'pod_full' });
    const body = new PassThrough();
    second.answer({ status: 200, headers: EVENTS, body });
    await chats[1]?.response;
    expect(inside(pod)).toEqual([2, 2]);
    body.end();
    await until(() => pod.forwarded.length === 3);
    expect(inside(pod)).toEqual([2, 1]);
  });

  it('a_server_that_dies_in_the_middle_cuts_the_connection_and_ends_nothing_cleanly', async () => {
    const pod = await startModelPod();
    const { response } = chat(pod, 'c1');
    const { answer } = await forwardedOf(pod);
    const body = new PassThrough();
    answer({ status: 200, headers: EVENTS, body });
    body.write('data: {}\n\n');
    const head = await response;
    await once(head, 'data');
    body.destroy(new Error('other side closed'));
    await expect(readAll(head)).rejects.toThrow('aborted');
    await until(() => inside(pod)[0] === 0);
    expect(pod.events('model_answered')[0]).toMatchObject({ outcome: 'broken_off' });
  });

  it('a_sender_that_hangs_up_ends_the_stream_at_once', async () => {
    const pod = await startModelPod();
    const { request, response } = chat(pod, 'c1');
    const { answer, request: forwarded } = await forwardedOf(pod);
    const body = new PassThrough();
    answer({ status: 200, headers: EVENTS, body });
    (await response).on('error', () => undefined);
    request.destroy();
    await until(() => forwarded.signal.aborted && body.destroyed);
    await until(() => inside(pod)[0] === 0);
  });

  it('its_sender_may_end_it_by_its_id_before_an_answer_came (L14)', async () => {
    const pod = await startModelPod();
    const sent = chat(pod, 'c1');
    await forwardedOf(pod);
    const ended = await ask(pod, 'DELETE', '/v1/page/c1', pageHeaders('x'));
    expect(ended.body).toEqual({ state: 'over' });
    expect(await refusalOf(sent)).toMatchObject({ status: 499, body: { code: 'client_gone' } });
  });

  it('it_is_given_up_at_its_deadline', async () => {
    const pod = await startModelPod();
    const headers = pageHeaders('c1', { 'x-page-deadline-ms': '50' });
    const { request, answer } = open(pod, { method: 'POST', path: CHAT, headers });
    request.end('{}');
    expect(await answer).toMatchObject({ status: 504, body: { code: 'page_deadline' } });
  });

  it('what_fails_before_the_answer_is_told_with_its_code', async () => {
    const pod = await startModelPod();
    const sent = chat(pod, 'c1');
    (await forwardedOf(pod)).fail(new Error('connect ECONNREFUSED 127.0.0.1:1'));
    const { status, body } = await refusalOf(sent);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('127.0.0.1');
  });

  it.each([
    [{ authorization: 'Bearer wrong' }, 401, 'unauthorized'],
    [{ 'x-owner': 'theirs' }, 409, 'wrong_owner'],
  ])('the_headers_of_a_page_count_%j', async (more, status, code) => {
    const pod = await startModelPod();
    expect(await ask(pod, 'POST', CHAT, pageHeaders('c1', more))).toMatchObject({ status, body: { code } });
  });

  it('a_pod_without_a_model_server_has_no_such_path', async () => {
    const pod = await startPod();
    expect(await ask(pod, 'POST', CHAT, pageHeaders('c1'))).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });
});
