import { type Answer, json, readBody, text } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { findRoute, type Route } from '../http/routes.ts';
import type { Service } from '../service.ts';
import { V1_POD_ROUTES } from './pod-routes.ts';

export interface V1Request {
  readonly service: Service;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export type V1Route = Route<(request: V1Request) => Promise<Answer>>;

const MAX_BODY_BYTES = 1_000_000;
const WRITES = new Set(['POST', 'PATCH', 'DELETE']);

export function v1Error(status: number, error: string): Answer {
  return json(status, { error, status });
}

/** The old REST API: pods alone. It has no quota of its own, and writes through GraphQL. */
export async function serveV1(service: Service, call: Call): Promise<Answer> {
  const { caller, method } = call;
  if (service.account.knobs.v1 === 'retired') return v1Error(410, 'REST v1 has been retired');
  // Not JSON, as was seen.
  if (caller.kind === 'nobody' || caller.kind === 'stranger') return text(401, 'Unauthorized');
  const found = findRoute(V1_POD_ROUTES, method, call.path);
  if (found.kind === 'nowhere') return v1Error(404, 'not found');
  if (found.kind === 'wrong-method') return v1Error(405, 'method not allowed');
  const { route, params } = found;
  const writes = WRITES.has(method);
  const body = writes ? await readBody(call.request, MAX_BODY_BYTES) : '';
  return service.meet('v1', [`${method} ${route.pattern}`], async () => {
    if (caller.kind === 'pod' && params.id !== caller.podId) return v1Error(403, 'forbidden');
    if (caller.kind === 'account' && writes && !caller.mayWrite) return v1Error(403, 'forbidden');
    if (writes && service.isGraphqlBanned(caller.key)) return v1Error(500, 'unexpected end of JSON input');
    const parsed = parseBody(body);
    if (parsed === null) return v1Error(400, 'invalid request body');
    return route.handler({ service, params, query: call.query, body: parsed.body });
  });
}

function parseBody(text: string | null): { body: unknown } | null {
  try {
    return text === null ? null : { body: text === '' ? undefined : JSON.parse(text) };
  } catch {
    return null;
  }
}
