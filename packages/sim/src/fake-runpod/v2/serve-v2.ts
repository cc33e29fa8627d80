import { type Answer, json, readBody, withHeaders } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { findRoute, type Route } from '../http/routes.ts';
import type { Service } from '../service.ts';
import { type QuotaVerdict, WINDOW_MS } from '../table/quota.ts';
import { ACCOUNT_ROUTES } from './account-routes.ts';
import { BILLING_ROUTES } from './billing-routes.ts';
import { CATALOG_ROUTES } from './catalog-routes.ts';
import { COLLECTION_ROUTES } from './collection-routes.ts';
import { MAX_BODY_BYTES } from './pod-request.ts';
import { POD_ROUTES } from './pod-routes.ts';
import { Problem, problemAnswer } from './problem.ts';
import { SERVERLESS_ROUTES } from './serverless-routes.ts';

export interface V2Request {
  readonly service: Service;
  readonly call: Call;
  readonly pattern: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

type V2Handler = (request: V2Request) => Promise<Answer>;
export type V2Route = Route<V2Handler>;

const ROUTES: readonly V2Route[] = [
  ...POD_ROUTES,
  ...CATALOG_ROUTES,
  ...COLLECTION_ROUTES,
  ...SERVERLESS_ROUTES,
  ...ACCOUNT_ROUTES,
  ...BILLING_ROUTES,
];
const WRITES = new Set(['POST', 'PATCH', 'PUT', 'DELETE']);

export async function serveV2(service: Service, call: Call): Promise<Answer> {
  if (call.path === '/openapi.json')
    return json(200, { openapi: '3.1.0', info: { title: 'fake', version: '2' }, paths: {} });
  const { caller } = call;
  if (caller.kind === 'nobody') return problemAnswer(new Problem(401, 'missing bearer token'));
  if (caller.kind === 'stranger') return problemAnswer(new Problem(401, 'invalid bearer token'));
  const quota = service.account.knobs.v2RateLimited ? service.takeV2Quota() : null;
  const answer = quota?.allowed === false ? refuseByQuota(quota) : await route(service, call);
  return quota === null ? answer : withHeaders(answer, rateLimitHeaders(quota));
}

async function route(service: Service, call: Call): Promise<Answer> {
  const found = findRoute(ROUTES, call.method, call.path);
  if (found.kind === 'nowhere') return problemAnswer(new Problem(404, 'The requested path was not found.'));
  if (found.kind === 'wrong-method') {
    return problemAnswer(new Problem(405, 'method not allowed'), { allow: found.allowed.join(', ') });
  }
  const { route, params } = found;
  // Read whole, whatever becomes of the call: an answer to half a body may get lost.
  const text = WRITES.has(call.method) ? await readBody(call.request, MAX_BODY_BYTES) : '';
  const run = async (): Promise<Answer> => {
    if (text === null) throw new Problem(413, `request body exceeds ${MAX_BODY_BYTES} bytes`);
    refuseScope(call, route.pattern, params);
    const body = parseBody(text);
    return route.handler({ service, call, pattern: route.pattern, params, query: call.query, body });
  };
  return service.meet('v2', [`${route.method} ${route.pattern}`], () => run().catch(toAnswer));
}

/** A pod's own key reads and ends that pod and nothing else; a read-only key writes nothing. */
function refuseScope({ caller, method }: Call, pattern: string, params: Record<string, string>): void {
  if (caller.kind === 'pod') {
    const own = pattern === '/pods/{id}' && params.id === caller.podId && ['GET', 'DELETE'].includes(method);
    if (!own) throw new Problem(403, 'access denied');
  }
  if (caller.kind === 'account' && !caller.mayWrite && WRITES.has(method))
    throw new Problem(403, 'access denied');
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(400, 'request body is not valid JSON');
  }
}

function toAnswer(error: unknown): Answer {
  if (error instanceof Problem) return problemAnswer(error);
  throw error;
}

function refuseByQuota(quota: QuotaVerdict): Answer {
  return problemAnswer(new Problem(429, `rate limit exceeded for the ${quota.emptyWindow ?? 'day'} window`), {
    'retry-after': String(quota.retryAfterSeconds),
  });
}

function rateLimitHeaders({ windows }: QuotaVerdict): Record<string, string> {
  return {
    'ratelimit-policy': windows
      .map(({ name, limit }) => `"${name}";q=${limit};w=${WINDOW_MS[name] / 1000}`)
      .join(', '),
    ratelimit: windows
      .map(({ name, remaining, resetSeconds }) => `"${name}";r=${remaining};t=${resetSeconds}`)
      .join(', '),
  };
}
