import { PagefleetError } from '@pagefleet/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from './metrics.ts';

export interface RouteOptions {
  readonly metrics: Metrics;
  serve(request: FastifyRequest, reply: FastifyReply, kind: 'one' | 'batch'): void;
  /** Throws unless the caller may send pages at all. */
  authenticate(request: FastifyRequest): void;
  health(): object;
}

const CHAT_PATHS = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'] as const;

export function registerRoutes(app: FastifyInstance, options: RouteOptions): void {
  // Taken over before Fastify looks at the body: the answer may come before it is read, and its type is told by content.
  const takeOver = (kind: 'one' | 'batch') => (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    options.serve(request, reply, kind);
  };
  const unreachable = () => {
    throw new PagefleetError('internal', 'the request was not taken over');
  };
  app.route({ method: 'POST', url: '/v1/ocr', onRequest: takeOver('one'), handler: unreachable });
  app.route({ method: 'POST', url: '/v1/ocr/batch', onRequest: takeOver('batch'), handler: unreachable });
  for (const url of CHAT_PATHS) {
    app.route({
      method: 'POST',
      url,
      onRequest: async (request) => {
        options.authenticate(request);
        throw new PagefleetError('unsupported', `${url} is not served by this build`);
      },
      handler: unreachable,
    });
  }
  app.get('/healthz', async () => options.health());
  app.get('/metrics', async (_request, reply) => {
    reply.type(options.metrics.contentType);
    return options.metrics.render();
  });
}
