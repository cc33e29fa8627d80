import { MODEL_PATHS, type ModelPath, PagefleetError } from '@pagefleet/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from './metrics.ts';

export interface RouteOptions {
  readonly metrics: Metrics;
  serve(request: FastifyRequest, reply: FastifyReply, kind: 'one' | 'batch' | ModelPath): void;
  health(): object;
}

/** Another than POST is refused by whoever serves the path, in the shape that its clients read. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export function registerRoutes(app: FastifyInstance, options: RouteOptions): void {
  // Taken over before Fastify looks at the body: the answer may come before it is read, and its type is told by content.
  const takeOver = (kind: 'one' | 'batch' | ModelPath) => (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    options.serve(request, reply, kind);
  };
  const unreachable = () => {
    throw new PagefleetError('internal', 'the request was not taken over');
  };
  app.route({ method: 'POST', url: '/v1/ocr', onRequest: takeOver('one'), handler: unreachable });
  app.route({ method: 'POST', url: '/v1/ocr/batch', onRequest: takeOver('batch'), handler: unreachable });
  for (const url of MODEL_PATHS) {
    app.route({ method: [...METHODS], url, onRequest: takeOver(url), handler: unreachable });
  }
  app.get('/healthz', async () => options.health());
  app.get('/metrics', async (_request, reply) => {
    reply.type(options.metrics.contentType);
    return options.metrics.render();
  });
}
