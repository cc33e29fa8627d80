import { once } from 'node:events';
import { PagefleetError } from '@pagefleet/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface DownRequest {
  readonly keepPods: boolean;
  readonly drainTimeoutMs: number | null;
}

interface DownBody {
  readonly keep_pods: boolean;
  readonly drain_timeout_ms?: number;
}

const BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['keep_pods'],
  properties: {
    keep_pods: { type: 'boolean' },
    drain_timeout_ms: { type: 'integer', minimum: 0, maximum: 86_400_000 },
  },
} as const;

/**
 * Ends every pod of this cluster, and tells how it goes in NDJSON, one object per line; the last line says how it ended.
 * Hanging up ends the telling, not the ending.
 */
export function addDownRoute(
  app: FastifyInstance,
  options: {
    readonly preHandler: (request: FastifyRequest) => Promise<void>;
    readonly down: (request: DownRequest) => AsyncIterable<object>;
  },
): void {
  const { preHandler, down } = options;
  app.post<{ Body: DownBody }>(
    '/v1/fleet/down',
    { preHandler, preValidation: requireJson, schema: { body: BODY } },
    async (request, reply) => {
      const lines = down({
        keepPods: request.body.keep_pods,
        drainTimeoutMs: request.body.drain_timeout_ms ?? null,
      });
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-request-id': request.id });
      for await (const line of lines) {
        if (raw.destroyed) continue;
        if (!raw.write(`${JSON.stringify(line)}\n`))
          await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
      }
      raw.end();
    },
  );
}

/** A form that a foreign page could send without asking is no control body. */
async function requireJson(request: FastifyRequest): Promise<void> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new PagefleetError('unsupported_media_type', 'control bodies are application/json');
  }
}
