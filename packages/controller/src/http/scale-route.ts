import type { LeaseStatus, ScaleReply, ScaleRequest } from '@pagefleet/contract';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { requireJson } from './check-request.ts';

const MAX_NAME_CHARS = 60;
const text = { type: 'string', minLength: 1, maxLength: MAX_NAME_CHARS } as const;

/** Bounds are wide: what is more than the operator allows is clamped and said, not refused. */
const BODY = {
  type: 'object',
  additionalProperties: false,
  properties: {
    pool: text,
    pods: { type: 'integer', minimum: 0, maximum: 1_000_000 },
    max_pods: { type: ['integer', 'null'], minimum: 0, maximum: 1_000_000 },
    gpu_types: {
      type: ['array', 'null'],
      items: { type: 'string', minLength: 1, maxLength: 100 },
      minItems: 1,
      maxItems: 64,
    },
    require: { enum: ['fleet', null] },
    ttl_s: { type: 'number', minimum: 1, maximum: 1_000_000_000 },
    lease: text,
    name: { type: 'string', maxLength: MAX_NAME_CHARS },
  },
} as const;

interface ScaleRouteOptions {
  readonly onRequest: readonly onRequestAsyncHookHandler[];
  readonly scale: (request: FastifyRequest, body: ScaleRequest) => Promise<ScaleReply>;
  readonly release: (request: FastifyRequest, lease: string) => Promise<ScaleReply>;
  readonly list: (request: FastifyRequest) => readonly LeaseStatus[];
}

/** `<prefix>/scale`: `POST` takes and renews, `GET` lists, `DELETE …/{lease}` releases. */
export function addScaleRoute(app: FastifyInstance, prefix: string, options: ScaleRouteOptions): void {
  const { onRequest, scale, release, list } = options;
  app.post<{ Body: ScaleRequest }>(
    `${prefix}/scale`,
    { onRequest: [...onRequest, requireJson], schema: { body: BODY } },
    (request) => scale(request, request.body),
  );
  app.get(`${prefix}/scale`, { onRequest: [...onRequest] }, async (request) => ({ leases: list(request) }));
  app.delete<{ Params: { lease: string } }>(
    `${prefix}/scale/:lease`,
    { onRequest: [...onRequest] },
    (request) => release(request, request.params.lease),
  );
}
