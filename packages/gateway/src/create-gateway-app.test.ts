import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineState, PagefleetError, type PageResult, type PodSettings } from '@pagefleet/contract';
import type { PageInput } from '@pagefleet/engines';
import { createLogger, makeProof, monotonicMs } from '@pagefleet/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayApp } from './create-gateway-app.ts';
import { createPod, type Pod } from './pod.ts';

const TOKEN = 'f'.repeat(64);
const PNG = Buffer.from('89504e470d0a1a0a00000000', 'hex');
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const SETTINGS: PodSettings = {
  clusterId: 'ours',
  podKey: '0'.repeat(32),
  keyId: 'k1',
  pool: 'ocr',
  name: 'ours-ocr-00000000',
  width: 1,
  configHash: 'hash',
  spot: false,
  podId: 'local-00000000',
  token: TOKEN,
  port: 0,
  portFile: '',
  host: '127.0.0.1',
  deadManMs: 60_000,
  engine: 'sleep',
  languages: [],
  dpi: 200,
  tesseract: 'auto',
  pageTimeoutMs: 60_000,
  sleepMs: 0,
  maxPixels: 1,
  maxPageBytes: 1_000,
  stallMs: 3_000,
  fatalStallMs: 60_000,
  logLevel: 'info',
};

interface Reading {
  readonly page: PageInput;
  finish(): void;
  /** lets an aborted reading come to its end */
  die(): void;
}

/** A pod in this process whose engine is worked by hand. */
async function startPod(changes: Partial<PodSettings> = {}) {
  const readings: Reading[] = [];
  const lines: Record<string, unknown>[] = [];
  const engine = { state: 'ready' as EngineState, up: Promise.withResolvers<void>(), endsAtOnce: true };
  const pod: Pod = createPod({
    settings: { ...SETTINGS, ...changes },
    monotonicMs,
    logger: createLogger({
      component: 'gateway',
      level: 'info',
      destination: { write: (line: string) => lines.push(JSON.parse(line)) },
    }),
    engine: {
      name: () => 'by-hand',
      version: () => '1',
      state: () => engine.state,
      ready: async () => {
        if (engine.state === 'starting') await engine.up.promise;
        if (engine.state === 'dead') throw new PagefleetError('engine_not_ready', 'dead');
      },
      condemn: () => undefined,
      close: async () => undefined,
      read: (page) =>
        new Promise<PageResult>((resolve, reject) => {
          const die = (): void => reject(page.signal.reason);
          readings.push({ page, finish: () => resolve({ text: 'read', engineMs: 1 } as PageResult), die });
          page.signal.addEventListener('abort', () => engine.endsAtOnce && die());
        }),
    },
  });
  let shutdowns = 0;
  const app = createGatewayApp(pod, {
    unknownSettings: ['PAGEFLEET_POD_NEW'],
    onShutdown: () => {
      shutdowns += 1;
    },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true });
  closers.push(async () => {
    agent.destroy();
    app.server.closeAllConnections();
    await app.close();
  });
  const { port } = app.server.address() as { port: number };
  const events = (event: string): Record<string, unknown>[] => lines.filter((line) => line.event === event);
  return { pod, app, port, agent, readings, engine, events, shutdowns: () => shutdowns };
}

type Started = Awaited<ReturnType<typeof startPod>>;
interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: IncomingMessage['headers'];
}

function pageHeaders(id: string, more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${TOKEN}`, 'x-page-id': id, 'x-owner': 'ours', ...more };
}

/** Opens a request and leaves its body to the caller. */
function open({ port, agent }: Started, options: RequestOptions) {
  const request = httpRequest({ host: '127.0.0.1', port, agent, ...options });
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      resolve({ status: response.statusCode ?? 0, body, headers: response.headers });
    });
  });
  answer.catch(() => undefined);
  return { request, answer };
}

function post(started: Started, id: string, more: Record<string, string> = {}, body: Buffer = PNG) {
  const opened = open(started, { method: 'POST', path: '/v1/page', headers: pageHeaders(id, more) });
  opened.request.end(body);
  return opened;
}

/** Sends the headers of a page and nothing of its body. */
function openWithoutBody(started: Started, id: string, length = '900') {
  const headers = pageHeaders(id, { 'content-length': length });
  const opened = open(started, { method: 'POST', path: '/v1/page', headers });
  opened.request.flushHeaders();
  return opened;
}

function ask(started: Started, method: string, path: string, headers: Record<string, string> = {}) {
  const opened = open(started, { method, path, headers });
  opened.request.end();
  return opened.answer;
}

async function until(holds: () => boolean): Promise<void> {
  for (let n = 0; n < 400 && !holds(); n += 1) await sleep(5);
  expect(holds()).toBe(true);
}

const inside = ({ pod }: Started): number[] => [pod.gate.running(), pod.gate.waiting()];

describe('a page in a pod', () => {
  it('a_page_is_read_whatever_its_content_type_says', async () => {
    const started = await startPod();
    for (const type of ['nonsense', 'application/json', 'application/pdf']) {
      const { answer } = post(started, `page-${type.length}`, { 'content-type': type });
      await until(() => started.readings.length === 1);
      expect(started.readings[0]?.page.kind).toBe('png');
      started.readings.pop()?.finish();
      expect(await answer).toMatchObject({ status: 200, body: { text: 'read' } });
    }
    expect(started.pod.pagesDone).toBe(3);
  });

  it('every_start_of_a_reading_is_one_line_with_its_page', async () => {
    const started = await startPod();
    const { answer } = post(started, 'page-1', { 'x-request-id': 'request-1' });
    await until(() => started.readings.length === 1);
    started.readings[0]?.finish();
    await answer;
    const ids = { pageId: 'page-1', requestId: 'request-1' };
    expect(started.events('page_started')).toMatchObject([ids]);
    expect(started.events('page_finished')).toMatchObject([{ ...ids, outcome: 'ok' }]);
  });

  it('a_stranger_is_turned_away_and_reads_nothing', async () => {
    const started = await startPod();
    for (const authorization of ['', 'Bearer', `Bearer ${TOKEN}x`, `bearer ${TOKEN.slice(1)}`]) {
      const { answer } = post(started, 'a', { authorization });
      expect(await answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    }
    expect(await ask(started, 'DELETE', '/v1/page/a')).toMatchObject({ status: 401 });
    expect(await ask(started, 'POST', '/v1/shutdown')).toMatchObject({ status: 401 });
    expect(started.readings).toHaveLength(0);
    expect(started.shutdowns()).toBe(0);
  });

  it('another_owner_is_turned_away_while_the_first_is_heard', async () => {
    const started = await startPod();
    const { answer } = post(started, 'a', { 'x-owner': 'theirs' });
    expect(await answer).toMatchObject({ status: 409, body: { code: 'wrong_owner' } });
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-owner': 'theirs' };
    expect(await ask(started, 'DELETE', '/v1/page/a', headers)).toMatchObject({ status: 409 });
  });

  it('the_page_above_twice_the_width_is_refused_before_its_body_is_read', async () => {
    const started = await startPod();
    const first = post(started, 'first');
    await until(() => started.readings.length === 1);
    const second = post(started, 'second');
    await until(() => started.pod.gate.waiting() === 1);
    const third = openWithoutBody(started, 'third');
    const refused = await third.answer;
    expect(refused).toMatchObject({ status: 429, body: { code: 'pod_full' } });
    expect(refused.headers['retry-after']).toBe('1');
    third.request.destroy();

    expect(started.readings).toHaveLength(1);
    started.readings[0]?.finish();
    await first.answer;
    await until(() => started.readings.length === 2);
    started.readings[1]?.finish();
    expect(await second.answer).toMatchObject({ status: 200 });
    expect(inside(started)).toEqual([0, 0]);
  });

  it('a_refused_page_may_come_again', async () => {
    const started = await startPod();
    post(started, 'a');
    post(started, 'b');
    await until(() => started.pod.gate.waiting() === 1 && started.readings.length === 1);
    expect((await post(started, 'c').answer).status).toBe(429);
    started.readings[0]?.finish();
    await until(() => started.readings.length === 2);
    started.readings[1]?.finish();
    await until(() => started.pod.gate.running() === 0);
    const again = post(started, 'c');
    await until(() => started.readings.length === 3);
    started.readings[2]?.finish();
    expect((await again.answer).status).toBe(200);
  });

  it('the_same_page_is_not_read_twice_at_once', async () => {
    const started = await startPod({ width: 4 });
    const first = post(started, 'a');
    await until(() => started.readings.length === 1);
    expect(await post(started, 'a').answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(started.readings).toHaveLength(1);
    started.readings[0]?.finish();
    expect((await first.answer).status).toBe(200);
    expect(inside(started)).toEqual([0, 0]);
  });

  it('a_page_above_the_limit_is_refused_by_its_length_or_by_its_bytes', async () => {
    const started = await startPod();
    const told = openWithoutBody(started, 'told', '1001');
    expect(await told.answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    told.request.destroy();
    const chunked = post(started, 'chunked', { 'transfer-encoding': 'chunked' }, Buffer.alloc(200_000, PNG));
    expect(await chunked.answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(inside(started)).toEqual([0, 0]);
  });

  it('bytes_that_are_no_page_are_named', async () => {
    const started = await startPod();
    expect(await post(started, 'a', {}, Buffer.alloc(0)).answer).toMatchObject({
      body: { code: 'empty_body' },
    });
    const text = post(started, 'b', { 'content-type': 'image/png' }, Buffer.from('hello'));
    expect(await text.answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    const unnamed = post(started, '../c');
    expect(await unnamed.answer).toMatchObject({ status: 400, body: { param: 'x-page-id' } });
  });
});

describe('the end of a reading', () => {
  it('a_deadline_ends_the_reading_and_gives_the_slot_back', async () => {
    const started = await startPod();
    const { answer } = post(started, 'a', { 'x-page-deadline-ms': '30' });
    expect(await answer).toMatchObject({ status: 504, body: { code: 'page_deadline' } });
    expect(started.readings[0]?.page.signal.aborted).toBe(true);
    expect(inside(started)).toEqual([0, 0]);
    expect(started.events('page_finished')).toMatchObject([{ outcome: 'page_deadline' }]);
  });

  it('a_deadline_also_ends_an_upload_that_does_not_come_and_the_wait_for_a_slot', async () => {
    const started = await startPod();
    post(started, 'runs');
    await until(() => started.readings.length === 1);
    const upload = open(started, {
      method: 'POST',
      path: '/v1/page',
      headers: pageHeaders('slow', { 'x-page-deadline-ms': '30', 'content-length': '12' }),
    });
    upload.request.write(PNG.subarray(0, 3));
    expect(await upload.answer).toMatchObject({ status: 504 });
    upload.request.destroy();
    const waiting = post(started, 'waits', { 'x-page-deadline-ms': '30' });
    expect(await waiting.answer).toMatchObject({ status: 504 });
    expect(started.readings).toHaveLength(1);
    expect(inside(started)).toEqual([1, 0]);
    expect(started.events('page_not_read')).toHaveLength(2);
  });

  it('a_sender_that_hangs_up_ends_the_reading_and_frees_the_slot', async () => {
    const started = await startPod();
    const { request } = post(started, 'a');
    await until(() => started.readings.length === 1);
    request.destroy();
    await until(() => started.pod.gate.running() === 0);
    expect(started.readings[0]?.page.signal.reason).toMatchObject({ code: 'client_gone' });
  });

  it('a_sender_that_hangs_up_in_its_upload_leaves_nothing_behind', async () => {
    const started = await startPod();
    const upload = open(started, {
      method: 'POST',
      path: '/v1/page',
      headers: pageHeaders('a', { 'content-length': '12' }),
    });
    upload.request.write(PNG.subarray(0, 3));
    await until(() => started.pod.gate.waiting() === 1);
    upload.request.destroy();
    await until(() => started.pod.gate.waiting() === 0);
    expect(started.readings).toHaveLength(0);
  });

  it('a_delete_answers_over_only_when_the_reading_is_over', async () => {
    const started = await startPod();
    started.engine.endsAtOnce = false;
    const { answer } = post(started, 'a');
    await until(() => started.readings.length === 1);
    let answered = false;
    const deleted = ask(started, 'DELETE', '/v1/page/a', pageHeaders('-')).finally(() => {
      answered = true;
    });
    await until(() => started.readings[0]?.page.signal.aborted === true);
    await sleep(20);
    expect(answered).toBe(false);
    expect(inside(started)).toEqual([1, 0]);
    started.readings[0]?.die();
    expect(await deleted).toMatchObject({ status: 200, body: { state: 'over' } });
    expect(await answer).toMatchObject({ status: 499 });
    expect(await post(started, 'a').answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('a_delete_that_comes_before_its_page_makes_the_page_fail', async () => {
    const started = await startPod();
    expect(await ask(started, 'DELETE', '/v1/page/a', pageHeaders('-'))).toMatchObject({
      body: { state: 'unknown' },
    });
    expect(await post(started, 'a').answer).toMatchObject({ status: 409 });
    expect(started.readings).toHaveLength(0);
    expect(await ask(started, 'DELETE', '/v1/page/%2e%2e', pageHeaders('-'))).not.toMatchObject({
      status: 500,
    });
  });
});

describe('the pod around its pages', () => {
  it('a_page_waits_for_an_engine_that_starts', async () => {
    const started = await startPod({ width: 2 });
    started.engine.state = 'starting';
    const patient = post(started, 'patient');
    await until(() => started.pod.gate.running() === 1);
    expect((await ask(started, 'GET', '/healthz')).body.engine).toBe('starting');
    expect(started.events('page_started')).toHaveLength(0);
    started.engine.state = 'ready';
    started.engine.up.resolve();
    await until(() => started.readings.length === 1);
    started.readings[0]?.finish();
    expect((await patient.answer).status).toBe(200);
  });

  it('a_dead_engine_refuses_at_once_and_health_says_dead', async () => {
    const started = await startPod();
    started.engine.state = 'dead';
    const { request, answer } = openWithoutBody(started, 'a');
    expect(await answer).toMatchObject({ status: 503, body: { code: 'engine_not_ready' } });
    request.destroy();
    expect((await ask(started, 'GET', '/health')).body.engine).toBe('dead');
    expect(started.events('page_started')).toHaveLength(0);
  });

  it('a_pod_asked_to_shut_down_takes_no_more_pages', async () => {
    const started = await startPod();
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await ask(started, 'POST', '/v1/shutdown', headers)).toMatchObject({ status: 202 });
    expect(await ask(started, 'POST', '/v1/shutdown', headers)).toMatchObject({ status: 202 });
    expect(started.shutdowns()).toBe(1);
    expect(await post(started, 'a').answer).toMatchObject({ status: 503, body: { code: 'stopping' } });
  });

  it('health_tells_the_settings_the_pod_runs_with_and_no_secret (R-045)', async () => {
    const started = await startPod({ width: 3 });
    const { body } = await ask(started, 'GET', '/healthz');
    expect(body).toMatchObject({
      v: 1,
      width: 3,
      engineName: 'by-hand',
      unknownSettings: ['PAGEFLEET_POD_NEW'],
    });
    expect(body.settings).toMatchObject({ width: 3, sleepMs: 0 });
    expect(JSON.stringify(body)).not.toContain(TOKEN);
  });

  it('a_pod_proves_itself_and_hears_only_an_owner_that_proves_itself', async () => {
    const started = await startPod();
    const heard: string[] = [];
    Object.assign(started.pod.owner, { hearAgain: () => heard.push('heard') });
    const probe = (headers: Record<string, string>): Promise<Answer> =>
      ask(started, 'GET', '/healthz', headers);
    const nonce = { 'x-pagefleet-nonce': 'n-1' };
    const proof = (side: 'pod' | 'owner', token = TOKEN): string => makeProof(token, side, 'n-1');

    expect((await probe(nonce)).headers['x-pagefleet-pod-proof']).toBe(proof('pod'));
    expect((await probe({})).headers['x-pagefleet-pod-proof']).toBeUndefined();
    await probe({ ...nonce, 'x-pagefleet-owner-proof': proof('pod') });
    await probe({ ...nonce, 'x-pagefleet-owner-proof': proof('owner', 'e'.repeat(64)) });
    await probe({ 'x-pagefleet-owner-proof': proof('owner') });
    expect(heard).toHaveLength(0);
    await probe({ ...nonce, 'x-pagefleet-owner-proof': proof('owner') });
    await probe({ authorization: `Bearer ${TOKEN}` });
    expect(heard).toHaveLength(2);
  });
});
