import { once } from 'node:events';
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import { requireJson } from './check-request.ts';

export interface DownRequest {
  readonly keepPods: boolean;
  readonly drainTimeoutMs: number | null;
}

interface DownBody {
  readonly keep_pods: boolean;
  readonly drain_timeout_ms?: number;
}

const FIELDS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    keep_pods: { type: 'boolean' },
    drain_timeout_ms: { type: 'integer', minimum: 0, maximum: 86_400_000 },
  },
} as const;

/** What is in `allOf` is judged first: a misspelt field is named, not the one that it leaves missing. */
const BODY = { type: 'object', allOf: [FIELDS], required: ['keep_pods'] } as const;

/**
 * Ends every pod of this cluster, and tells how it goes in NDJSON, one object per line; the last line says how it ended.
 * Hanging up ends the telling, not the ending.
 */
export function addDownRoute(
  app: FastifyInstance,
  options: {
    readonly onRequest: readonly onRequestAsyncHookHandler[];
    readonly down: (request: DownRequest) => AsyncIterable<object>;
  },
): void {
  const { onRequest, down } = options;
  app.post<{ Body: DownBody }>(
    '/v1/fleet/down',
    { onRequest: [...onRequest, requireJson], schema: { body: BODY } },
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
