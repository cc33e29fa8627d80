import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveGraphql } from '../graphql/serve-graphql.ts';
import { serveInvoke } from '../invoke/serve-invoke.ts';
import type { Service } from '../service.ts';
import type { ApiName } from '../table/knobs.ts';
import { serveV1 } from '../v1/serve-v1.ts';
import { serveV2 } from '../v2/serve-v2.ts';
import { type Answer, html, sendAnswer, text } from './answer.ts';
import type { Call } from './call.ts';
import { parseProxyHost, serveProxy } from './serve-proxy.ts';

type Serve = (service: Service, call: Call) => Promise<Answer>;

const SERVICES: readonly { readonly prefix: string; readonly api: ApiName; readonly serve: Serve }[] = [
  { prefix: '/graphql', api: 'graphql', serve: serveGraphql },
  { prefix: '/invoke/v2', api: 'invoke', serve: serveInvoke },
  { prefix: '/v2', api: 'v2', serve: serveV2 },
  { prefix: '/v1', api: 'v1', serve: serveV1 },
];

export type ServeAdmin = (request: IncomingMessage, url: URL) => Promise<Answer>;

/** Which of the services a request is for, and its answer. */
export async function serveCall(
  service: Service,
  serveAdmin: ServeAdmin,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  try {
    service.cloud.settle();
    sendAnswer(response, await answerTo(service, serveAdmin, { request, response }));
  } catch (err) {
    service.logger.error({ err, path: request.url?.split('?')[0] }, 'fake_request_failed');
    if (response.headersSent) response.destroy();
    else sendAnswer(response, html(500));
  }
}

async function answerTo(
  service: Service,
  serveAdmin: ServeAdmin,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<Answer> {
  const proxied = parseProxyHost(request.headers.host);
  if (proxied) return serveProxy(service, { request, response }, proxied);
  const url = new URL(request.url ?? '/', 'http://fake');
  if (url.pathname.startsWith('/_fake/')) return serveAdmin(request, url);
  if (service.account.knobs.requireUserAgent && !request.headers['user-agent']) {
    request.resume();
    return text(403, 'error code: 1010');
  }
  const found = SERVICES.find(
    ({ prefix }) => url.pathname === prefix || url.pathname.startsWith(`${prefix}/`),
  );
  if (!found) return html(404);
  const { api, prefix, serve } = found;
  const query = url.searchParams;
  const caller = service.callerOf(request, query, { queryKeys: api === 'graphql' });
  const path = url.pathname.slice(prefix.length);
  return serve(service, { api, method: request.method ?? 'GET', path, query, request, response, caller });
}
