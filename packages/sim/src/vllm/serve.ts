import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerCompletion } from './answer-completion.ts';
import { embed } from './answer-embeddings.ts';
import { sha256 } from './hash.ts';
import { parseFields } from './read-request.ts';
import { toldHeaders } from './records.ts';
import { badRequest, errorBody, Refusal } from './refusal.ts';
import { sendJson } from './reply-output.ts';
import type { Service } from './service.ts';
import { splitTokens } from './tokens.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** uvicorn's, which vLLM sets. */
const KEEP_ALIVE_MS = 5_000;
/** Pinned in the image that the engines are tested with (contract 3.1). */
const VERSION = '0.20.1+simulated';

type Route = readonly [
  method: string,
  answer: (service: Service, exchange: Exchange) => Promise<void> | void,
];

const ROUTES: Readonly<Record<string, Route>> = {
  '/v1/chat/completions': [
    'POST',
    (service, exchange) => answerCompletion(service, '/v1/chat/completions', exchange),
  ],
  '/v1/completions': ['POST', (service, exchange) => answerCompletion(service, '/v1/completions', exchange)],
  '/v1/embeddings': ['POST', answerEmbeddings],
  '/tokenize': ['POST', answerTokenize],
  '/v1/models': ['GET', ({ arguments: served }, { response }) => json(response, listModels(served))],
  '/health': ['GET', (service, { response }) => empty(response, isDead(service) ? 503 : 200)],
  '/ping': ['GET', (service, { response }) => empty(response, isDead(service) ? 503 : 200)],
  '/version': ['GET', (_, { response }) => json(response, { version: VERSION })],
  '/load': ['GET', ({ underWay }, { response }) => json(response, { server_load: underWay.size })],
  '/metrics': ['GET', answerMetrics],
  '/sim/stats': ['GET', (service, { response }) => json(response, statsOf(service))],
};

/** vLLM's HTTP server; it does not listen yet. */
export function createVllmServer(service: Service): Server {
  const server = createServer((request, response) => {
    void Promise.resolve(answer(service, { request, response })).catch((failure: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, errorBody(refusalOf(failure)));
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // A request may wait for hours in the queue, and its body may come slowly.
  server.requestTimeout = 0;
  return server;
}

function answer(service: Service, exchange: Exchange): Promise<void> | void {
  const { request, response } = exchange;
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (path.startsWith('/v1') && !mayEnter(request, service.arguments.apiKey)) {
    request.resume();
    return sendJson(response, 401, JSON.stringify({ error: 'Unauthorized' }));
  }
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  if (route === undefined) return sendJson(response, 404, JSON.stringify({ detail: 'Not Found' }));
  if (request.method !== route[0])
    return sendJson(response, 405, JSON.stringify({ detail: 'Method Not Allowed' }));
  return route[1](service, exchange);
}

function mayEnter(request: IncomingMessage, apiKey: string | null): boolean {
  if (apiKey === null) return true;
  const given = Buffer.from(sha256(request.headers.authorization ?? ''));
  return timingSafeEqual(given, Buffer.from(sha256(`Bearer ${apiKey}`)));
}

function isDead(service: Service): boolean {
  return service.script().script.dead === true;
}

function listModels({ servedNames, model, loras, maxModelLen }: Service['arguments']): object {
  const created = Math.floor(Date.now() / 1_000);
  const entry = (id: string, root: string, parent: string | null) => ({
    ...{ id, object: 'model', created, owned_by: 'vllm', root, parent },
    max_model_len: parent === null ? maxModelLen : null,
    permission: [],
  });
  const own = servedNames.map((name) => entry(name, model, null));
  const adapters = loras.map(({ name, path }) => entry(name, path, servedNames[0] ?? model));
  return { object: 'list', data: [...own, ...adapters] };
}

function statsOf({ engine: { batch }, counts }: Service): object {
  return {
    ...{ running: batch.running, waiting: batch.waiting, maxRunning: batch.maxRunning },
    ...{ generatedTokens: batch.generatedTokens, wastedTokens: counts.wastedTokens },
    ...{ requests: counts.requests, preemptions: batch.preemptions, kvUsage: batch.kvUsage },
  };
}

function answerMetrics({ engine: { batch }, metrics }: Service, { response }: Exchange): void {
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  response.end(metrics.render(batch));
}

async function answerEmbeddings(service: Service, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const atMs = Date.now();
  const startedMs = performance.now();
  const fieldsRead = await readFields(request);
  const book = (end: 'stop' | 'refused', status: number, promptTokens: number, model: string | null): void =>
    service.over({
      ...{ id: `embd-${service.counts.requests}`, path: '/v1/embeddings', model, atMs },
      ...{ ms: Math.round(performance.now() - startedMs), end, status, promptTokens },
      ...{ completionTokens: 0, wastedTokens: 0, body: fieldsRead },
      ...{ headers: toldHeaders(request.headers), page: null },
    });
  try {
    const { answer, model, promptTokens } = embed(fieldsRead, service.names);
    book('stop', 200, promptTokens, model);
    json(response, answer);
  } catch (failure) {
    const refusal = refusalOf(failure);
    book('refused', refusal.status, 0, null);
    sendJson(response, refusal.status, errorBody(refusal));
  }
}

async function answerTokenize(
  { arguments: served }: Service,
  { request, response }: Exchange,
): Promise<void> {
  const { prompt } = await readFields(request);
  if (typeof prompt !== 'string') throw badRequest('prompt: expected a text', 'prompt');
  const tokens = splitTokens(prompt).map((token) => Number.parseInt(sha256(token).slice(0, 4), 16));
  json(response, { count: tokens.length, max_model_len: served.maxModelLen, tokens, token_strs: null });
}

async function readFields(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return parseFields(Buffer.concat(chunks));
}

function refusalOf(failure: unknown): Refusal {
  if (failure instanceof Refusal) return failure;
  return new Refusal(500, failure instanceof Error ? failure.message : String(failure));
}

function json(response: ServerResponse, body: object): void {
  sendJson(response, 200, JSON.stringify(body));
}

function empty(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-length': 0 });
  response.end();
}
