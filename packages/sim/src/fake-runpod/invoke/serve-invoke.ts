import type { Endpoint } from '../account.ts';
import { randomId } from '../cloud.ts';
import { type Answer, json, readBody } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { findRoute, type Route } from '../http/routes.ts';
import type { Service } from '../service.ts';

interface Job {
  readonly id: string;
  readonly endpointId: string;
  readonly input: unknown;
  readonly createdAtMs: number;
  readonly doneAtMs: number;
  cancelled: boolean;
}

interface Invocation {
  readonly service: Service;
  readonly jobs: Map<string, Job>;
  readonly endpoint: Endpoint;
  readonly jobId: string;
  readonly input: unknown;
  readonly waitMs: number;
}

type Handler = (invocation: Invocation) => Promise<Answer>;

const RUN_BYTES = 10_000_000;
const RUNSYNC_BYTES = 20_000_000;
const RUNSYNC_WAIT_MS = 90_000;

const ROUTES: readonly Route<Handler>[] = [
  { method: 'POST', pattern: '/{endpointId}/run', handler: async (one) => json(200, view(one, addJob(one))) },
  { method: 'POST', pattern: '/{endpointId}/runsync', handler: runSync },
  {
    method: 'GET',
    pattern: '/{endpointId}/status/{jobId}',
    handler: async (one) => withJob(one, (job) => view(one, job)),
  },
  { method: 'GET', pattern: '/{endpointId}/status-sync/{jobId}', handler: statusSync },
  {
    method: 'GET',
    pattern: '/{endpointId}/stream/{jobId}',
    handler: async (one) => withJob(one, (job) => streamOf(one, job)),
  },
  {
    method: 'POST',
    pattern: '/{endpointId}/cancel/{jobId}',
    handler: async (one) => withJob(one, (job) => cancel(one, job)),
  },
  {
    method: 'POST',
    pattern: '/{endpointId}/retry/{jobId}',
    handler: async (one) => withJob(one, (job) => view(one, addJob({ ...one, input: job.input }))),
  },
  { method: 'POST', pattern: '/{endpointId}/purge-queue', handler: async (one) => json(200, purge(one)) },
  { method: 'GET', pattern: '/{endpointId}/health', handler: async (one) => json(200, health(one)) },
  {
    method: 'GET',
    pattern: '/{endpointId}/requests',
    handler: async (one) => json(200, { requests: jobsOf(one).map((job) => view(one, job)) }),
  },
];

const JOBS = new WeakMap<Service, Map<string, Job>>();

/** The serverless side: jobs that echo their input after a while. Workers are not modelled and cost nothing. */
export async function serveInvoke(service: Service, call: Call): Promise<Answer> {
  const { caller } = call;
  if (caller.kind !== 'account') return json(401, { error: 'unauthorized' });
  const found = findRoute(ROUTES, call.method, call.path);
  if (found.kind !== 'found') return json(found.kind === 'nowhere' ? 404 : 405, { error: 'not found' });
  const { route, params } = found;
  const body = await readBody(call.request, route.pattern.endsWith('/runsync') ? RUNSYNC_BYTES : RUN_BYTES);
  return service.meet('invoke', [`${route.method} ${route.pattern}`], async () => {
    const endpoint = service.account.endpoints.get(params.endpointId ?? '');
    const knownAtMs = (endpoint?.createdAtMs ?? 0) + service.account.knobs.endpointPropagationMs;
    if (!endpoint || service.clock.nowMs() < knownAtMs) return json(404, { error: 'endpoint not found' });
    if (body === null) return json(413, { error: 'request body too large' });
    const asked = parseInput(body);
    if (asked === null) return json(400, { error: 'request body is not valid JSON' });
    const jobs = JOBS.get(service) ?? new Map<string, Job>();
    JOBS.set(service, jobs);
    const waitMs = Number(call.query.get('wait') ?? RUNSYNC_WAIT_MS);
    return route.handler({ service, jobs, endpoint, jobId: params.jobId ?? '', input: asked.input, waitMs });
  });
}

async function runSync(one: Invocation): Promise<Answer> {
  const job = addJob(one);
  await one.service.clock.sleep(Math.min(job.doneAtMs - job.createdAtMs, one.waitMs));
  return json(200, view(one, job));
}

/** Not documented; RunPod's own SDKs use it. */
async function statusSync(one: Invocation): Promise<Answer> {
  const left = (one.jobs.get(one.jobId)?.doneAtMs ?? 0) - one.service.clock.nowMs();
  await one.service.clock.sleep(Math.min(Math.max(0, left), one.waitMs));
  return withJob(one, (job) => view(one, job));
}

function addJob({ service, jobs, endpoint, input }: Invocation): Job {
  const nowMs = service.clock.nowMs();
  const job: Job = {
    id: `${randomId(24)}-e1`,
    endpointId: endpoint.id,
    input,
    createdAtMs: nowMs,
    doneAtMs: nowMs + service.account.knobs.jobMs,
    cancelled: false,
  };
  jobs.set(job.id, job);
  return job;
}

function withJob(one: Invocation, show: (job: Job) => unknown): Answer {
  const job = one.jobs.get(one.jobId);
  return job?.endpointId === one.endpoint.id ? json(200, show(job)) : json(404, { error: 'job not found' });
}

function statusOf({ service }: Invocation, job: Job): string {
  if (job.cancelled) return 'CANCELLED';
  const nowMs = service.clock.nowMs();
  if (nowMs >= job.doneAtMs) return 'COMPLETED';
  return nowMs > job.createdAtMs ? 'IN_PROGRESS' : 'IN_QUEUE';
}

function view(one: Invocation, job: Job): Record<string, unknown> {
  const status = statusOf(one, job);
  if (status !== 'COMPLETED') return { id: job.id, status };
  const executionTime = job.doneAtMs - job.createdAtMs;
  return {
    id: job.id,
    status,
    output: { echo: job.input ?? null },
    delayTime: 1,
    executionTime,
    workerId: 'worker0',
  };
}

function streamOf(one: Invocation, job: Job): Record<string, unknown> {
  const status = statusOf(one, job);
  return { status, stream: status === 'COMPLETED' ? [{ output: { echo: job.input ?? null } }] : [] };
}

function cancel(one: Invocation, job: Job): Record<string, unknown> {
  if (statusOf(one, job) !== 'COMPLETED') job.cancelled = true;
  return { id: job.id, status: statusOf(one, job) };
}

function purge(one: Invocation): Record<string, unknown> {
  const queued = jobsOf(one).filter((job) => statusOf(one, job) === 'IN_QUEUE');
  for (const { id } of queued) one.jobs.delete(id);
  return { removed: queued.length, status: 'completed' };
}

function health(one: Invocation): Record<string, unknown> {
  const statuses = jobsOf(one).map((job) => statusOf(one, job));
  const count = (status: string): number => statuses.filter((each) => each === status).length;
  const idle = one.endpoint.workersMax > 0 ? 1 : 0;
  return {
    jobs: {
      completed: count('COMPLETED'),
      failed: 0,
      inProgress: count('IN_PROGRESS'),
      inQueue: count('IN_QUEUE'),
      retried: 0,
    },
    workers: { idle, initializing: 0, ready: idle, running: 0, throttled: 0, unhealthy: 0 },
  };
}

function jobsOf({ jobs, endpoint }: Invocation): Job[] {
  return [...jobs.values()].filter(({ endpointId }) => endpointId === endpoint.id);
}

function parseInput(body: string): { input: unknown } | null {
  try {
    return { input: body === '' ? null : ((JSON.parse(body) as { input?: unknown }).input ?? null) };
  } catch {
    return null;
  }
}
