import { Type } from 'typebox';
import { spendRate } from '../cloud.ts';
import { json } from '../http/answer.ts';
import { usd } from '../table/catalogue.ts';
import { checkBody } from './check-body.ts';
import type { V2Request, V2Route } from './serve-v2.ts';

const SshKeys = Type.Object({ keys: Type.Array(Type.String()) }, { additionalProperties: false });

export const ACCOUNT_ROUTES: readonly V2Route[] = [
  {
    method: 'GET',
    pattern: '/account/ssh-keys',
    handler: async ({ service }) => json(200, { keys: service.account.sshKeys }),
  },
  {
    method: 'PUT',
    pattern: '/account/ssh-keys',
    handler: async ({ service, body }) => {
      service.account.sshKeys = checkBody(SshKeys, body).keys;
      return json(200, { keys: service.account.sshKeys });
    },
  },
  { method: 'GET', pattern: '/account/limits', handler: async (request) => json(200, limitsOf(request)) },
  { method: 'GET', pattern: '/clusters', handler: async () => json(200, { clusters: [] }) },
];

/** The public text names the two groups and not what is in them; these fields are a guess. */
function limitsOf({ service: { account, clock } }: V2Request): Record<string, unknown> {
  const workers = [...account.endpoints.values()].reduce((sum, { workersMax }) => sum + workersMax, 0);
  return {
    spendRate: {
      limit: account.knobs.spendLimitUsdPerHour,
      current: usd(spendRate(account.pods.values(), clock.nowMs())),
    },
    serverlessWorkers: { limit: account.knobs.maxServerlessWorkers, current: workers },
  };
}
