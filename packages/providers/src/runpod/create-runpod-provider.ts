import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PagefleetError } from '@pagefleet/contract';
import { type Logger, makeFolder } from '@pagefleet/runtime';
import type { Provider } from '../port.ts';
import type { ApiName, Clock, Send } from './api-call.ts';
import { createApiMeters } from './api-meters.ts';
import { composeSend } from './compose-send.ts';
import { listPods } from './list-pods.ts';
import { createOfferKeeper } from './offer-keeper.ts';
import { openHttp } from './open-http.ts';
import { readBills } from './read-bills.ts';
import { rentPod } from './rent-pod.ts';
import { terminatePod } from './terminate-pod.ts';
import { openUsageFile } from './usage-file.ts';

export interface RunpodProviderOptions {
  readonly apiKey: string;
  /** REST v2 */
  readonly restUrl: string;
  readonly graphqlUrl: string;
  /** 0 = none */
  readonly graphqlHourlyBudget: number;
  /** the saved catalogue, and what all processes of this machine share of the APIs' budgets (R-110) */
  readonly stateDir: string;
  readonly logger: Logger;
  readonly userAgent?: string;
  readonly clock?: Clock;
}

const USER_AGENT = 'pagefleet/0.1.0';
const REAL_CLOCK: Clock = { nowMs: Date.now, sleep: (ms) => wait(ms) };

/** Pods of a RunPod account. Several controllers and command lines may use it at the same time. */
export function createRunpodProvider(options: RunpodProviderOptions): Provider {
  const {
    apiKey,
    stateDir,
    logger,
    graphqlHourlyBudget,
    clock = REAL_CLOCK,
    userAgent = USER_AGENT,
  } = options;
  const base = {
    rest: baseUrl(options.restUrl, 'rest_url'),
    graphql: baseUrl(options.graphqlUrl, 'graphql_url'),
  };
  // A line break in it would be refused with the whole header quoted.
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new PagefleetError('config_invalid', 'The API key is no printable word.');
  const usageDir = join(stateDir, 'api');
  makeFolder(usageDir, 0o700);

  const http = openHttp(userAgent);
  const file = openUsageFile(usageDir, clock.nowMs);
  const meters = createApiMeters({ file, graphqlHourlyBudget, clock, logger });
  const sendOf = (api: ApiName): Send =>
    composeSend(http.raw(base[api]), { api, apiKey, meters, logger, clock });
  const send = { rest: sendOf('rest'), graphql: sendOf('graphql') };
  const pods = {
    nowMs: clock.nowMs,
    loopbackIsPublic: /^(127\.|localhost$|\[::1\]$)/.test(new URL(base.rest).hostname),
    firstSeenMs: new Map<string, number>(),
  };
  const context = { send, meters, clock, logger, apiKey, pods };

  return {
    free: false,
    // A create may still be carried out minutes after its answer was lost (contract 8, row 13).
    listingProvesAbsence: false,
    offers: createOfferKeeper({ ...context, savedPath: join(stateDir, 'catalogue.json') }),
    rent: (request) => rentPod(context, request),
    list: () => listPods(context),
    terminate: (id) => terminatePod(context, id),
    usage: meters.usage,
    billed: (fromMs) => readBills({ ...context, send: send.rest }, fromMs),
    close: http.close,
  };
}

function baseUrl(text: string, option: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new PagefleetError('config_invalid', `runpod.${option} is no address: "${text}"`);
  // REST v1 proxies writes to GraphQL and has been retired: nothing of ours calls it.
  if (/\/v1\/?$/.test(url.pathname))
    throw new PagefleetError('config_invalid', `runpod.${option} is the address of REST v1; v2 is needed`);
  return text.replace(/\/+$/, '');
}
