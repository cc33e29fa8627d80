import { request as forward, type IncomingMessage } from 'node:http';
import type { Service } from '../service.ts';
import { observePod } from '../table/observe-pod.ts';
import { type Answer, html, SENT } from './answer.ts';
import type { Call } from './call.ts';

const PROXY_HOST = /^([a-z0-9]+)-(\d+)\.proxy\.runpod\.net(:\d+)?$/i;

/** The pod and the inner port that a Host header names; null = the request is for the fake itself. */
export function parseProxyHost(host: string | undefined): { podId: string; port: number } | null {
  const match = PROXY_HOST.exec(host ?? '');
  return match?.[1] && match[2] ? { podId: match[1].toLowerCase(), port: Number(match[2]) } : null;
}

/** The public HTTPS proxy, without the S: open to everyone, and without patience. */
export async function serveProxy(
  service: Service,
  { request, response }: Pick<Call, 'request' | 'response'>,
  to: { podId: string; port: number },
): Promise<Answer> {
  const { knobs, pods } = service.account;
  const pod = pods.get(to.podId);
  const mapping = pod?.ports.find((port) => port.private === to.port && port.type === 'http');
  if (!pod || !mapping) return html(404);
  if (!observePod(pod, service.clock.nowMs()).listening) return html(knobs.proxyClosed);
  const stop = new AbortController();
  const late = service.clock.sleep(knobs.proxyTimeoutMs, stop.signal).then(() => 'late' as const);
  const answered = answerOf(request, mapping.public, stop.signal);
  const first = await Promise.race([answered, late]);
  if (first === 'late' || first === null) {
    stop.abort();
    return first === 'late' ? html(524) : html(knobs.proxyClosed);
  }
  response.writeHead(first.statusCode ?? 502, first.headers);
  first.pipe(response);
  response.once('close', () => stop.abort());
  return SENT;
}

/** Null: nobody answers there. */
function answerOf(
  request: IncomingMessage,
  port: number,
  signal: AbortSignal,
): Promise<IncomingMessage | null> {
  return new Promise((resolve) => {
    const { method, url, headers } = request;
    const onward = forward({ host: '127.0.0.1', port, method, path: url, headers, signal });
    onward.once('response', resolve);
    onward.once('error', () => resolve(null));
    request.pipe(onward);
  });
}
