import type { IncomingMessage } from 'node:http';
import type { FakeRunpodControls, StockChange, StockPlace } from '../controls.ts';
import { type Answer, json, NO_CONTENT, readBody } from '../http/answer.ts';
import { findRoute, type Route } from '../http/routes.ts';
import type { ServeAdmin } from '../http/serve-call.ts';
import type { Service } from '../service.ts';
import type { CallFault, DeepPartial, PodKnobs, ServiceKnobs } from '../table/knobs.ts';
import { usdOf } from '../table/ledger.ts';
import { observePod } from '../table/observe-pod.ts';
import type { PodRecord } from '../table/pod-record.ts';

type AdminHandler = (params: Record<string, string>, body: unknown) => Promise<Answer> | Answer;

const MAX_BODY_BYTES = 1_000_000;

/** `/_fake/…`: the controls over HTTP, for scripts and other processes. Nothing protects it but the loopback address. */
export function serveAdmin(service: Service, controls: FakeRunpodControls): ServeAdmin {
  const routes = [...readRoutes(service, controls), ...changeRoutes(service, controls)];
  return async (request: IncomingMessage, url: URL) => {
    const found = findRoute(routes, request.method ?? 'GET', url.pathname);
    if (found.kind === 'nowhere') return json(404, { error: 'there is no such path' });
    if (found.kind === 'wrong-method') return json(405, { error: `takes ${found.allowed.join(', ')}` });
    const text = await readBody(request, MAX_BODY_BYTES);
    try {
      return await found.route.handler(found.params, text ? JSON.parse(text) : {});
    } catch (error) {
      return json(400, { error: error instanceof Error ? error.message : String(error) });
    }
  };
}

function readRoutes(service: Service, controls: FakeRunpodControls): Route<AdminHandler>[] {
  const { account, clock } = service;
  const get = (pattern: string, read: () => unknown): Route<AdminHandler> => ({
    method: 'GET',
    pattern: `/_fake/${pattern}`,
    handler: () => json(200, read()),
  });
  return [
    get('knobs', () => account.knobs),
    get('pods', () => ({ pods: controls.pods().map((pod) => tableLine(pod, clock.nowMs())) })),
    get('stock', () => ({ cells: account.catalogue.cells })),
    get('clock', () => ({ nowMs: clock.nowMs(), ...clock.anchor() })),
    get('calls', () => ({ calls: controls.calls() })),
    get('ledger', () => ({
      costUsd: controls.costUsd(),
      lines: controls.ledger().map(({ exact, ...line }) => ({ ...line, costUsd: usdOf(exact) })),
    })),
  ];
}

function changeRoutes({ account, clock }: Service, controls: FakeRunpodControls): Route<AdminHandler>[] {
  const route = (method: string, pattern: string, handler: AdminHandler): Route<AdminHandler> => ({
    method,
    pattern: `/_fake/${pattern}`,
    handler,
  });
  return [
    route('PATCH', 'knobs', (_, body) => {
      controls.setKnobs(body as DeepPartial<ServiceKnobs>);
      return json(200, account.knobs);
    }),
    route('POST', 'next-creates', (_, body) => {
      const { times, knobs } = body as { times: number; knobs: Partial<PodKnobs> };
      controls.nextCreates(times, knobs);
      return NO_CONTENT;
    }),
    route('POST', 'faults', (_, body) => {
      controls.failNext(body as CallFault);
      return NO_CONTENT;
    }),
    route('PATCH', 'stock', (_, body) => {
      const { place, change } = body as { place: StockPlace; change: StockChange };
      controls.setStock(place, change);
      return json(200, { cells: account.catalogue.cells });
    }),
    route('POST', 'clock', async (_, body) => {
      const { advanceMs, speed } = body as { advanceMs?: number; speed?: number };
      if (speed !== undefined) controls.setSpeed(speed);
      if (advanceMs !== undefined) await controls.advance(advanceMs);
      return json(200, { nowMs: clock.nowMs(), ...clock.anchor() });
    }),
    route('POST', 'bans', (_, body) => {
      const { api, forMs } = body as { api: 'graphql' | 'v2'; forMs: number };
      controls.ban(api, forMs);
      return NO_CONTENT;
    }),
    route('PATCH', 'pods/{id}', ({ id = '' }, body) => {
      controls.setPodKnobs(id, body as Partial<PodKnobs>);
      return NO_CONTENT;
    }),
    route('POST', 'pods/{id}/outbid', ({ id = '' }, body) => {
      const { look } = body as { look?: PodKnobs['outbidLook'] };
      return controls.outbid(id, look) ? NO_CONTENT : json(404, { error: `pod ${id} does not run` });
    }),
    route('POST', 'pods/{id}/exit', ({ id = '' }) =>
      controls.exitContainer(id) ? NO_CONTENT : json(404, { error: `pod ${id} does not run` }),
    ),
  ];
}

/** Without its keys: the environment holds tokens. */
function tableLine({ apiKey: _, request, ...pod }: PodRecord, nowMs: number): Record<string, unknown> {
  const { env, ...asked } = request;
  return {
    ...pod,
    request: { ...asked, envNames: Object.keys(env) },
    now: observePod({ ...pod, request, apiKey: '' }, nowMs),
  };
}
