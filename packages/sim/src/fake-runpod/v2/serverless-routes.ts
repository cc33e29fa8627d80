import { type Static, Type } from 'typebox';
import type { Endpoint } from '../account.ts';
import { randomId } from '../cloud.ts';
import { type Answer, json, NO_CONTENT } from '../http/answer.ts';
import { checkBody } from './check-body.ts';
import { paginate } from './paginate.ts';
import { Problem } from './problem.ts';
import type { V2Request, V2Route } from './serve-v2.ts';

const closed = { additionalProperties: false } as const;
const strings = Type.Array(Type.String());
const CudaVersion = Type.String({ pattern: '^\\d+\\.\\d+$' });

const fields = {
  name: Type.String({ minLength: 1 }),
  image: Type.Optional(Type.String({ minLength: 1 })),
  templateId: Type.Optional(Type.String()),
  gpu: Type.Optional(
    Type.Object(
      {
        pools: strings,
        excludedTypes: Type.Optional(strings),
        count: Type.Optional(Type.Integer({ minimum: 1 })),
        minCudaVersion: Type.Optional(CudaVersion),
        allowedCudaVersions: Type.Optional(Type.Array(CudaVersion)),
      },
      closed,
    ),
  ),
  cpu: Type.Optional(
    Type.Array(Type.Object({ id: Type.String(), vcpuCount: Type.Integer({ minimum: 1 }) }, closed)),
  ),
  scaling: Type.Optional(
    Type.Union([
      Type.Object({ type: Type.Literal('QUEUE_DELAY'), queueDelay: Type.Number({ minimum: 0.5 }) }, closed),
      Type.Object(
        { type: Type.Literal('REQUEST_COUNT'), requestCount: Type.Integer({ minimum: 1 }) },
        closed,
      ),
    ]),
  ),
  workers: Type.Optional(
    Type.Object(
      {
        min: Type.Optional(Type.Integer({ minimum: 0 })),
        max: Type.Optional(Type.Integer({ minimum: 0 })),
        idleTimeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
      },
      closed,
    ),
  ),
  timeout: Type.Optional(Type.Integer({ minimum: 0 })),
  flashboot: Type.Optional(Type.Enum(['OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'])),
  disk: Type.Optional(Type.Integer({ minimum: 1 })),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  dataCenterIds: Type.Optional(strings),
  networkVolumes: Type.Optional(strings),
};
const EndpointCreate = Type.Object({ ...fields, type: Type.Enum(['QUEUE', 'LOAD_BALANCER']) }, closed);
const EndpointPatch = Type.Partial(Type.Object(fields, closed), closed);
type EndpointCreate = Static<typeof EndpointCreate>;
type EndpointPatch = Static<typeof EndpointPatch>;

export const SERVERLESS_ROUTES: readonly V2Route[] = [
  { method: 'GET', pattern: '/serverless', handler: listEndpoints },
  { method: 'POST', pattern: '/serverless', handler: createEndpoint },
  {
    method: 'GET',
    pattern: '/serverless/{id}',
    handler: async (request) => show(request, 200, endpointOf(request)),
  },
  { method: 'PATCH', pattern: '/serverless/{id}', handler: patchEndpoint },
  { method: 'DELETE', pattern: '/serverless/{id}', handler: deleteEndpoint },
  {
    method: 'GET',
    pattern: '/serverless/{id}/workers',
    handler: async (request) => workersOf(endpointOf(request)),
  },
  {
    method: 'GET',
    pattern: '/serverless/{id}/releases',
    handler: async (request) => {
      endpointOf(request);
      return json(200, { releases: [], ...paginate(request, []) });
    },
  },
];

async function listEndpoints(request: V2Request): Promise<Answer> {
  const { items, ...pagination } = paginate(request, [...request.service.account.endpoints.values()]);
  return json(200, { endpoints: items.map((endpoint) => viewOf(request, endpoint)), ...pagination });
}

async function createEndpoint(request: V2Request): Promise<Answer> {
  const { account, clock } = request.service;
  const body = checkBody(EndpointCreate, request.body);
  if ((body.gpu === undefined) === (body.cpu === undefined)) {
    throw new Problem(400, 'exactly one of gpu and cpu must be given');
  }
  if (!body.image && !body.templateId) throw new Problem(400, 'image is required unless templateId is given');
  if (body.templateId && !account.templates.has(body.templateId))
    throw new Problem(404, 'template not found');
  const { name, workers = {}, ...rest } = body;
  refuseIdleTimeout(body);
  const endpoint: Endpoint = {
    id: randomId(14),
    createdAtMs: clock.nowMs(),
    name,
    body: { ...rest, workers: { idleTimeout: 10, ...workers } },
    workersMin: workers.min ?? 0,
    workersMax: workers.max ?? 3,
    loadBalancer: body.type === 'LOAD_BALANCER',
  };
  refuseQuota(request, endpoint);
  return save(request, 201, endpoint);
}

async function patchEndpoint(request: V2Request): Promise<Answer> {
  const before = endpointOf(request);
  const { name, workers = {}, ...changes } = checkBody(EndpointPatch, request.body);
  // New pools clear the exclusions, as there.
  const gpu = changes.gpu && { excludedTypes: [], ...changes.gpu };
  const endpoint: Endpoint = {
    ...before,
    name: name ?? before.name,
    body: { ...before.body, ...changes, ...(gpu ? { gpu } : {}) },
    workersMin: workers.min ?? before.workersMin,
    workersMax: workers.max ?? before.workersMax,
  };
  refuseQuota(request, endpoint);
  return save(request, 200, endpoint);
}

async function deleteEndpoint(request: V2Request): Promise<Answer> {
  const { id } = endpointOf(request);
  request.service.account.endpoints.delete(id);
  request.service.journal.item('endpoints', id, null);
  return NO_CONTENT;
}

function refuseIdleTimeout({ type, scaling, workers }: EndpointCreate & EndpointPatch): void {
  if (type === 'QUEUE' && scaling?.type === 'REQUEST_COUNT' && workers?.idleTimeout !== undefined) {
    throw new Problem(400, 'workers.idleTimeout cannot be set for QUEUE with REQUEST_COUNT');
  }
}

function refuseQuota({ service: { account } }: V2Request, endpoint: Endpoint): void {
  const quota = account.knobs.maxServerlessWorkers;
  const others = [...account.endpoints.values()].filter(({ id }) => id !== endpoint.id);
  if (others.reduce((sum, { workersMax }) => sum + workersMax, endpoint.workersMax) > quota) {
    throw new Problem(400, `Max workers across all endpoints must not exceed your workers quota (${quota})`);
  }
}

/** One worker stands ready once there may be any; what they cost is in nobody's ledger. */
function workersOf({ workersMax }: Endpoint): Answer {
  const idle = workersMax > 0 ? 1 : 0;
  const worker = {
    id: 'worker0',
    status: 'IDLE',
    isStale: false,
    version: 1,
    gpuCount: 1,
    image: null,
    uptimeSeconds: null,
    gpuTypeId: null,
    dataCenterId: null,
    startedAt: null,
  };
  return json(200, {
    workers: idle === 1 ? [worker] : [],
    summary: { running: 0, idle, initializing: 0, throttled: 0, unhealthy: 0, total: idle },
    endpointVersion: 1,
  });
}

function endpointOf({ service, params }: V2Request): Endpoint {
  const endpoint = service.account.endpoints.get(params.id ?? '');
  if (!endpoint) throw new Problem(404, 'endpoint not found');
  return endpoint;
}

function save(request: V2Request, status: number, endpoint: Endpoint): Answer {
  request.service.account.endpoints.set(endpoint.id, endpoint);
  request.service.journal.item('endpoints', endpoint.id, endpoint);
  return show(request, status, endpoint);
}

function show(request: V2Request, status: number, endpoint: Endpoint): Answer {
  return json(status, viewOf(request, endpoint));
}

function viewOf({ service }: V2Request, endpoint: Endpoint): Record<string, unknown> {
  const { id, name, body, workersMin, workersMax, createdAtMs, loadBalancer } = endpoint;
  const base = `${service.baseUrl()}/invoke/v2/${id}`;
  return {
    ...body,
    id,
    name,
    workers: { ...(body.workers as object | undefined), min: workersMin, max: workersMax },
    requestUrls: loadBalancer
      ? { base, health: `${base}/ping` }
      : {
          run: `${base}/run`,
          runSync: `${base}/runsync`,
          status: `${base}/status`,
          stream: `${base}/stream`,
          cancel: `${base}/cancel`,
          retry: `${base}/retry`,
          purgeQueue: `${base}/purge-queue`,
          health: `${base}/health`,
        },
    template: null,
    createdAt: new Date(createdAtMs).toISOString(),
  };
}
