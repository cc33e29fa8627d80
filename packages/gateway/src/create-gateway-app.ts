import {
  GATEWAY_PATHS,
  isProfileName,
  MODEL_PATHS,
  PAGE_HEADERS,
  type PageCancelled,
  PagefleetError,
} from '@pagefleet/contract';
import { createHttpApp, podTls } from '@pagefleet/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type CpuMeter, startCpuMeter } from './cpu-meter.ts';
import { addHealthRoutes } from './health-route.ts';
import { parsePageId } from './parse-page-headers.ts';
import type { Pod } from './pod.ts';
import { takeModelRequest } from './take-model-request.ts';
import { takePage } from './take-page.ts';

export interface GatewayAppOptions {
  readonly unknownSettings: readonly string[];
  /** what people should know about how the pod is set up; told by its health */
  readonly warnings?: readonly string[];
  /** the owner asks for the end of the pod; called at most once */
  readonly onShutdown: () => void;
  readonly cpu?: CpuMeter;
}

/** Longest time in which a page must have arrived; far above what a page takes between our machines. */
const UPLOAD_MS = 5 * 60_000;

export function createGatewayApp(pod: Pod, options: GatewayAppOptions): FastifyInstance {
  const app = createHttpApp({
    name: 'gateway',
    logger: pod.logger,
    bodyLimitBytes: pod.settings.maxPageBytes,
    requestTimeoutMs: UPLOAD_MS,
    ...(pod.settings.transport === 'tls-psk' ? { tls: podTls(pod.settings) } : {}),
  });
  const cpu = options.cpu ?? startCpuMeter(pod.monotonicMs);
  app.addHook('onClose', async () => cpu.stop());
  // Pages are told by their content. Fastify would refuse a malformed type and parse a known one.
  app.addHook('onRequest', async (request) => {
    delete request.raw.headers['content-type'];
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  addHealthRoutes(app, pod, { ...options, cpu });

  app.post(GATEWAY_PATHS.page, (request, reply) =>
    takePage(pod, { request: request.raw, response: reply.raw, requestId: request.id }),
  );

  for (const path of isProfileName(pod.settings.engine) ? MODEL_PATHS : []) {
    app.post(path, async (request, reply) => {
      const exchange = { request: request.raw, response: reply.raw, requestId: request.id };
      await takeModelRequest(pod, path, exchange, () => reply.hijack());
    });
  }

  app.delete(`${GATEWAY_PATHS.page}/:id`, async (request): Promise<PageCancelled> => {
    requireOwner(pod, request);
    const { id } = request.params as { id: string };
    return { state: await pod.register.cancel(parsePageId(id, 'id')) };
  });

  app.post(GATEWAY_PATHS.shutdown, async (request, reply) => {
    requireOwner(pod, request);
    if (!pod.stopping) {
      pod.stopping = true;
      options.onShutdown();
    }
    reply.code(202);
    return { stopping: true };
  });
  return app;
}

/** These requests need not name their owner: the token is proof enough, unless they name another one. */
function requireOwner(pod: Pod, request: FastifyRequest): void {
  if (!pod.isBearer(request.headers.authorization)) {
    throw new PagefleetError('unauthorized', 'the bearer token is missing or wrong');
  }
  const owner = request.headers[PAGE_HEADERS.owner];
  if (owner !== undefined && !pod.owner.hear(String(owner))) {
    throw new PagefleetError('wrong_owner', 'this pod heard another owner a short time ago');
  }
  pod.owner.hearAgain();
}
