import {
  type FleetPlan,
  type FleetStatus,
  PagefleetError,
  toErrorBody,
  toOpenAiError,
} from '@pagefleet/contract';
import { createHttpApp, type Logger, startingGate } from '@pagefleet/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { LeaseDesk } from '../leases/lease-desk.ts';
import { type Caller, OPENAI_PATHS, type Role } from './authorise.ts';
import { refuseOptions } from './check-request.ts';
import { addDownRoute, type DownRequest } from './down-route.ts';
import { addScaleRoute } from './scale-route.ts';

export interface ControllerAppDeps {
  readonly logger: Logger;
  readonly authorise: (request: FastifyRequest, wanted: Role) => Promise<Caller>;
  readonly status: () => Promise<FleetStatus>;
  readonly leases: () => LeaseDesk;
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
  const app = createHttpApp({
    ...{ name: 'controller', logger: deps.logger, bodyLimitBytes: 64 * 1_024 },
    errorBody: (error, { id, url }) =>
      OPENAI_PATHS.test(url) ? toOpenAiError(error, id) : toErrorBody(error, id),
  });
  const gate = startingGate(app);
  // Before a body is read: who may not ask is told nothing about what is expected.
  const callers = new WeakMap<FastifyRequest, Caller>();
  const as = (role: Role) => ({
    onRequest: [
      async (request: FastifyRequest) => {
        callers.set(request, await deps.authorise(request, role));
      },
      refuseOptions,
    ],
  });
  const callerOf = (request: FastifyRequest): Caller => {
    const caller = callers.get(request);
    if (caller === undefined) throw new Error('nobody was asked who sends this');
    return caller;
  };
  const [asClient, asOperator] = [as('client'), as('operator')];

  app.get('/healthz', () => deps.health());
  for (const prefix of ['/v1/fleet', '/v1/runpod']) {
    app.get(`${prefix}/status`, asClient, async (request) =>
      visibleTo(callerOf(request), await deps.status()),
    );
    addScaleRoute(app, prefix, {
      ...asClient,
      scale: (request, body) => deps.leases().scale(callerOf(request), body),
      release: (request, lease) => deps.leases().release(callerOf(request), lease),
      list: (request) => deps.leases().list(callerOf(request)),
    });
  }
  app.get('/v1/fleet/plan', asOperator, () => deps.plan());
  app.get('/v1/models', asClient, () => ({ object: 'list', data: deps.models().map(toModel) }));
  // Names of models hold slashes.
  app.get('/v1/models/*', asClient, (request) => toModel(findModel(request.params, deps.models())));
  app.get('/metrics', asClient, async (_request, reply) => {
    const { contentType, text } = await deps.metrics();
    return reply.type(contentType).send(text);
  });
  addDownRoute(app, { ...asOperator, down: deps.down });
  return { app, ready: gate.ready };
}

const toModel = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'pagefleet' });

function findModel(params: unknown, models: readonly string[]): string {
  const { '*': name } = params as { '*': string };
  if (models.includes(name)) return name;
  const message = `no pool serves the model "${name}"; known are ${models.join(', ')}`;
  throw new PagefleetError('not_found', message, { details: { param: 'model' } });
}

/** Who else holds a lease, and what it costs, is nobody's business. */
function visibleTo({ name, role }: Caller, status: FleetStatus): FleetStatus {
  if (role === 'operator') return status;
  const isOwn = ({ owner }: { owner: string }) => owner === name;
  const money = { ...status.money, leases: status.money.leases.filter(isOwn) };
  return { ...status, leases: status.leases.filter(isOwn), money };
}
