import { type FleetPlan, type FleetStatus, PagefleetError } from '@pagefleet/contract';
import { createHttpApp, type Logger, startingGate } from '@pagefleet/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Role } from './authorise.ts';
import { refuseOptions, requireJsonIfAny } from './check-request.ts';
import { addDownRoute, type DownRequest } from './down-route.ts';

export interface ControllerAppDeps {
  readonly logger: Logger;
  readonly authorise: (request: FastifyRequest, wanted: Role) => Promise<void>;
  readonly status: () => Promise<FleetStatus>;
  readonly plan: () => Promise<FleetPlan>;
  readonly health: () => Record<string, unknown>;
  /** Prometheus text and its content type */
  readonly metrics: () => Promise<{ contentType: string; text: string }>;
  /** model names, each once: pools and what clients may call them */
  readonly models: () => string[];
  readonly down: (request: DownRequest) => AsyncIterable<object>;
}

/** The controller's HTTP surface (DESIGN 8). It answers from the first moment: until `ready()`, 503 `starting`. */
export function createControllerApp(deps: ControllerAppDeps): { app: FastifyInstance; ready(): void } {
  const app = createHttpApp({ name: 'controller', logger: deps.logger, bodyLimitBytes: 64 * 1_024 });
  const gate = startingGate(app);
  // Before a body is read: who may not ask is told nothing about what is expected.
  const as = (role: Role) => ({
    onRequest: [(request: FastifyRequest) => deps.authorise(request, role), refuseOptions],
  });
  const [asClient, asOperator] = [as('client'), as('operator')];

  app.get('/healthz', () => deps.health());
  for (const prefix of ['/v1/fleet', '/v1/runpod']) {
    app.get(`${prefix}/status`, asClient, () => deps.status());
    app.post(`${prefix}/scale`, { onRequest: [...asClient.onRequest, requireJsonIfAny] }, () => {
      throw new PagefleetError('unsupported', 'leases are not part of this build; set min_pods and max_pods');
    });
  }
  app.get('/v1/fleet/plan', asOperator, () => deps.plan());
  app.get('/v1/models', asClient, () => ({
    object: 'list',
    data: deps.models().map((id) => ({ id, object: 'model', created: 0, owned_by: 'pagefleet' })),
  }));
  app.get('/metrics', asClient, async (_request, reply) => {
    const { contentType, text } = await deps.metrics();
    return reply.type(contentType).send(text);
  });
  addDownRoute(app, { ...asOperator, down: deps.down });
  return { app, ready: gate.ready };
}
