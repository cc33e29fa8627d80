import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PageResult, type PodHealth, PROOF_HEADERS } from '@pagefleet/contract';
import { makeProof } from '@pagefleet/runtime';

/** How the pod treats the next pages; the last one stays in force. */
export type Behaviour =
  /** answers after `ms` and not before `until` */
  | { readonly kind: 'read'; readonly ms?: number; readonly until?: Promise<unknown> | undefined }
  | { readonly kind: 'answer'; readonly status: number; readonly body: object }
  /** takes the page, then breaks the connection off */
  | { readonly kind: 'cut' }
  /** never answers */
  | { readonly kind: 'hang' }
  | { readonly kind: 'garbage' };

export interface FakePod {
  readonly url: string;
  readonly pages: {
    id: string;
    bytes: number;
    token: string | undefined;
    headers: IncomingMessage['headers'];
  }[];
  readonly deleted: string[];
  /** pages being read now, and the most there ever were */
  readonly inFlight: () => number;
  readonly peak: () => number;
  /** What `DELETE` answers: a state, or nothing at all. */
  deleteAnswers: 'over' | 'unknown' | 'nothing';
  behave(...next: Behaviour[]): void;
  close(): Promise<void>;
}

/** A gateway for failure injection only: it reads nothing and does what it is told. */
export async function startFakePod(...first: Behaviour[]): Promise<FakePod> {
  let queue: Behaviour[] = first.length > 0 ? [...first] : [{ kind: 'read' }];
  let inFlight = 0;
  let peak = 0;
  const pages: FakePod['pages'] = [];
  const deleted: string[] = [];

  const server: Server = createServer((request, response) => {
    if (request.method === 'DELETE') {
      deleted.push(request.url?.split('/').at(-1) ?? '');
      if (pod.deleteAnswers === 'nothing') request.socket.destroy();
      else json(response, 200, { state: pod.deleteAnswers });
      return;
    }
    if (request.url === '/healthz') {
      health(request, response);
      return;
    }
    const behaviour = (queue.length > 1 ? queue.shift() : queue[0]) ?? { kind: 'read' };
    inFlight += 1;
    peak = Math.max(peak, inFlight);
    let over = false;
    const end = () => {
      if (!over) inFlight -= 1;
      over = true;
    };
    response.on('close', end);
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => {
      const id = String(request.headers['x-page-id']);
      pages.push({ id, bytes, token: request.headers.authorization, headers: request.headers });
      respond(behaviour, request, response, end);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pod: FakePod = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    deleted,
    inFlight: () => inFlight,
    peak: () => peak,
    deleteAnswers: 'over',
    behave(...next) {
      queue = [...next];
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return pod;
}

function respond(
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
  end: () => void,
): void {
  switch (behaviour.kind) {
    case 'read':
      void Promise.all([sleep(behaviour.ms ?? 0), behaviour.until]).then(() => {
        end();
        json(response, 200, result(String(request.headers['x-page-id'])));
      });
      return;
    case 'answer':
      json(response, behaviour.status, behaviour.body);
      return;
    case 'cut':
      request.socket.destroy();
      return;
    case 'garbage':
      json(response, 200, { nothing: true });
      return;
    case 'hang':
  }
}

function result(id: string): PageResult {
  return {
    text: `text of ${id}`,
    markdown: `text of ${id}`,
    confidence: 90.5,
    width: 100,
    height: 200,
    dpi: 200,
    rotation: 0,
    engine: 'fake',
    engineMs: 1,
    blocks: [{ kind: 'text', text: 'text', box: { x0: 1, y0: 2, x1: 3, y1: 4 }, confidence: 90 }],
    words: [
      { text: 'text', confidence: 95, box: { x0: 1, y0: 2, x1: 3, y1: 4 } },
      { text: 'of', confidence: 80, box: { x0: 1, y0: 2, x1: 3, y1: 4 } },
    ],
  };
}

/** Proves the identity of the pod with this token, as a gateway does. */
function health(request: IncomingMessage, response: ServerResponse): void {
  const nonce = String(request.headers[PROOF_HEADERS.nonce]);
  response.setHeader(PROOF_HEADERS.podProof, makeProof('token-0', 'pod', nonce));
  json(response, 200, HEALTH);
}

const HEALTH: PodHealth = {
  v: 1,
  podId: 'p0',
  engine: 'ready',
  engineName: 'fake',
  engineVersion: '1',
  width: 1,
  inflight: 0,
  waiting: 0,
  pagesDone: 0,
  uptimeMs: 1,
  cpuPercent: 0,
  rssBytes: 1,
  settings: {},
  settingsVersion: 1,
  unknownSettings: [],
  configHash: 'x',
};

function json(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
