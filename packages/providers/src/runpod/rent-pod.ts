import type { Logger } from '@pagefleet/runtime';
import type { RentedMachine, RentOutcome, RentRequest } from '../port.ts';
import type { ApiName, Clock, Send } from './api-call.ts';
import type { ApiMeters } from './api-meters.ts';
import { buildGraphqlCreate, buildRestCreate, podEnv } from './build-create.ts';
import { type CreateVerdict, classifyCreate } from './classify-create.ts';
import { type PodContext, readRentedPod } from './read-pod.ts';
import { type Constraints, rentSteps } from './rent-steps.ts';
import { routesOf } from './route-call.ts';

export interface RentContext {
  readonly send: Readonly<Record<ApiName, Send>>;
  readonly meters: ApiMeters;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly apiKey: string;
  readonly pods: PodContext;
}

const MAX_ENV = 50;
/** No further step is begun after that: whoever asked decides anew what to rent. */
const STEPS_WITHIN_MS = 30_000;

const CONSTRAINT_FIELD = /\b(dataCenterIds?|minVcpuCount(PerGpu)?|minMemoryInGb|minRamPerGpu)\b/;

type Refused = Extract<CreateVerdict, { kind: 'refused' }>;

/**
 * One paid call, and another only once the one before was refused for sure: with fewer constraints when there is no
 * capacity, or without the global volume when that is not understood. Whatever else happens is told, not mended.
 */
export async function rentPod(context: RentContext, request: RentRequest): Promise<RentOutcome> {
  const { meters, clock } = context;
  const { machine } = request;
  if (machine === null) return refuse('request', 'no machine was chosen for the pod');
  const variables = Object.keys(podEnv(request)).length;
  if (variables > MAX_ENV)
    return refuse('request', `the pod has ${variables} environment variables, RunPod takes ${MAX_ENV}`);
  await meters.refresh();
  const [api] = routesOf(machine.offer.spot ? 'create-spot' : 'create', meters.states());
  if (api === undefined) return refuse('wait', withheldWords(meters, machine));

  const startMs = clock.nowMs();
  let withGlobalVolume = machine.globalVolume !== null;
  let refused: Refused | null = null;
  for (const constraints of rentSteps(machine, api)) {
    if (refused !== null && clock.nowMs() - startMs > STEPS_WITHIN_MS) break;
    const order = { request, machine, constraints, api };
    let verdict = await ask(context, { ...order, withGlobalVolume });
    if (withGlobalVolume && verdict.kind === 'refused' && verdict.fault === 'request') {
      context.logger.warn(
        { name: request.mark.name, reason: verdict.reason },
        'runpod_global_volume_refused',
      );
      withGlobalVolume = false;
      verdict = await ask(context, { ...order, withGlobalVolume });
    }
    if (verdict.kind !== 'refused') return told(context, request, { verdict, api });
    refused = verdict;
    if (verdict.fault !== 'no-capacity' && !isConstraintUnknown(verdict)) break;
  }
  return refused === null ? refuse('request', 'nothing was asked') : conclude(context, request, refused);
}

/** A constraint is not in the schema any more; the next steps leave it out (contract 8, row 30). */
function isConstraintUnknown({ fault, reason }: Refused): boolean {
  return fault === 'request' && CONSTRAINT_FIELD.test(reason);
}

interface Order {
  readonly request: RentRequest;
  readonly machine: RentedMachine;
  readonly constraints: Constraints;
  readonly api: ApiName;
  readonly withGlobalVolume: boolean;
}

async function ask({ send, logger, ...context }: RentContext, order: Order): Promise<CreateVerdict> {
  const call = order.api === 'graphql' ? buildGraphqlCreate(order) : buildRestCreate(order);
  const verdict = scrub(
    classifyCreate(await send[order.api](call), order.api),
    context.apiKey,
    order.request,
  );
  const { offer } = order.machine;
  const about = { name: order.request.mark.name, api: order.api, card: offer.card, cloud: offer.cloud };
  const reason = verdict.kind === 'rented' ? undefined : verdict.reason;
  logger.info({ ...about, spot: offer.spot, outcome: verdict.kind, reason }, 'runpod_create_answered');
  return verdict;
}

function told(
  context: RentContext,
  request: RentRequest,
  { verdict, api }: { verdict: Exclude<CreateVerdict, Refused>; api: ApiName },
): RentOutcome {
  if (verdict.kind === 'rented') {
    return { kind: 'rented', pod: readRentedPod(verdict, { request, api, context: context.pods }) };
  }
  return { kind: 'ambiguous', cause: new Error(verdict.reason, { cause: verdict.cause }) };
}

function conclude({ logger }: RentContext, request: RentRequest, { fault, reason }: Refused): RentOutcome {
  if (fault === 'request' || fault === 'account')
    logger.error({ name: request.mark.name, fault, reason }, 'runpod_rent_not_possible');
  return refuse(fault, reason);
}

function refuse(fault: Refused['fault'], reason: string): RentOutcome {
  return { kind: 'refused', fault, reason };
}

/** A validator quotes what it was sent. */
function scrub(verdict: CreateVerdict, apiKey: string, { settings }: RentRequest): CreateVerdict {
  if (verdict.kind === 'rented') return verdict;
  const reason = verdict.reason.replaceAll(apiKey, '[redacted]').replaceAll(settings.token, '[redacted]');
  return { ...verdict, reason };
}

function withheldWords(meters: ApiMeters, { offer }: RentedMachine): string {
  const untilMs = meters.bannedUntilMs('graphql');
  const until = untilMs === null ? 'soon' : new Date(untilMs).toISOString();
  return offer.spot
    ? `only GraphQL rents spot, and it may not be asked before ${until}`
    : `neither API may be asked; GraphQL not before ${until}`;
}
