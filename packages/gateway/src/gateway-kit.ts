/** For tests: a pod in this process whose engine is worked by hand, and a client that leaves bodies open. */
import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineState, PagefleetError, type PageResult, type PodSettings } from '@pagefleet/contract';
import type { ModelAnswer, ModelRequest, PageInput } from '@pagefleet/engines';
import { createLogger, monotonicMs } from '@pagefleet/runtime';
import { afterEach, expect } from 'vitest';
import { createGatewayApp } from './create-gateway-app.ts';
import { createPod, type Pod } from './pod.ts';
import { podSettings } from './test-kit/pod-settings.ts';

export const TOKEN = podSettings().token;
export const PNG = Buffer.from('89504e470d0a1a0a00000000', 'hex');
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Reading {
  readonly page: PageInput;
  finish(): void;
  /** lets an aborted reading come to its end */
  die(): void;
}

/** A pod in this process whose engine is worked by hand. */
export async function startPod(changes: Partial<PodSettings> = {}) {
  const readings: Reading[] = [];
  const forwarded: { request: ModelRequest; answer(answer: ModelAnswer): void; fail(cause: Error): void }[] =
    [];
  const lines: Record<string, unknown>[] = [];
  const engine = {
    state: 'ready' as EngineState,
    up: Promise.withResolvers<void>(),
    endsAtOnce: true,
    fault: null as string | null,
  };
  const pod: Pod = createPod({
    settings: podSettings({ maxPageBytes: 1_000, ...changes }),
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
      fault: () => engine.fault,
      ready: async () => {
        if (engine.state === 'starting') await engine.up.promise;
        if (engine.state === 'dead') throw new PagefleetError('engine_not_ready', 'dead');
      },
      condemner: () => () => undefined,
      forward: (request) =>
        new Promise<ModelAnswer>((answer, fail) => {
          forwarded.push({ request, answer, fail });
          request.signal.addEventListener('abort', () => fail(request.signal.reason));
        }),
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
  return { pod, app, port, agent, readings, forwarded, engine, events, shutdowns: () => shutdowns };
}

export type Started = Awaited<ReturnType<typeof startPod>>;
export interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: IncomingMessage['headers'];
}

export function pageHeaders(id: string, more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${TOKEN}`, 'x-page-id': id, 'x-owner': 'ours', ...more };
}

/** Opens a request and leaves its body to the caller. */
export function open({ port, agent }: Started, options: RequestOptions) {
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

export function post(started: Started, id: string, more: Record<string, string> = {}, body: Buffer = PNG) {
  const opened = open(started, { method: 'POST', path: '/v1/page', headers: pageHeaders(id, more) });
  opened.request.end(body);
  return opened;
}

/** Sends the headers of a page and nothing of its body. */
export function openWithoutBody(started: Started, id: string, length = '900') {
  const headers = pageHeaders(id, { 'content-length': length });
  const opened = open(started, { method: 'POST', path: '/v1/page', headers });
  opened.request.flushHeaders();
  return opened;
}

export function ask(started: Started, method: string, path: string, headers: Record<string, string> = {}) {
  const opened = open(started, { method, path, headers });
  opened.request.end();
  return opened.answer;
}

export async function until(holds: () => boolean): Promise<void> {
  for (let n = 0; n < 400 && !holds(); n += 1) await sleep(5);
  expect(holds()).toBe(true);
}

export const inside = ({ pod }: Started): number[] => [pod.gate.running(), pod.gate.waiting()];
