import type { IncomingMessage } from 'node:http';
import type { Logger } from '@pagefleet/runtime';
import type { Account } from './account.ts';
import type { FakeClock } from './clock.ts';
import type { Cloud } from './cloud.ts';
import { type Answer, CUT, html, json } from './http/answer.ts';
import type { Caller } from './http/call.ts';
import type { Journal } from './journal.ts';
import type { ApiName, CallFault } from './table/knobs.ts';
import { newQuotaUse, type QuotaUse, type QuotaVerdict, takeQuota } from './table/quota.ts';

export interface ApiKey {
  readonly key: string;
  /** false: a read-only key */
  readonly mayWrite: boolean;
}

export interface ServiceDeps {
  readonly account: Account;
  readonly clock: FakeClock;
  readonly cloud: Cloud;
  readonly journal: Journal;
  readonly logger: Logger;
  readonly keys: readonly ApiKey[];
  readonly baseUrl: () => string;
}

/** What all four services share: keys, quotas, faults that wait for a call, and the count of calls. */
export class Service {
  readonly account: Account;
  readonly clock: FakeClock;
  readonly cloud: Cloud;
  readonly journal: Journal;
  readonly logger: Logger;
  readonly baseUrl: () => string;
  readonly faults: CallFault[] = [];
  /** `v2 GET /pods` → calls */
  readonly counts = new Map<string, number>();
  readonly v2Quota = newQuotaUse();
  /** by key: GraphQL counts keys, REST v2 users */
  private readonly graphqlQuotas = new Map<string, QuotaUse>();
  private readonly keys: readonly ApiKey[];

  constructor(deps: ServiceDeps) {
    const { account, clock, cloud, journal, logger, keys, baseUrl } = deps;
    this.account = account;
    this.clock = clock;
    this.cloud = cloud;
    this.journal = journal;
    this.logger = logger;
    this.keys = keys;
    this.baseUrl = baseUrl;
  }

  callerOf({ headers }: IncomingMessage, query: URLSearchParams, { queryKeys = false } = {}): Caller {
    const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const key = bearer ?? (queryKeys ? query.get('api_key') : null);
    if (!key) return { kind: 'nobody' };
    const known = this.keys.find((one) => one.key === key);
    if (known) return { kind: 'account', key, mayWrite: known.mayWrite };
    for (const pod of this.account.pods.values()) {
      if (pod.apiKey === key) return { kind: 'pod', key, podId: pod.id };
    }
    return { kind: 'stranger' };
  }

  takeV2Quota(): QuotaVerdict {
    return takeQuota(this.v2Quota, this.account.knobs.quotas.v2, this.clock.nowMs());
  }

  takeGraphqlQuota(key: string): QuotaVerdict {
    return takeQuota(this.graphqlQuotaOf(key), this.account.knobs.quotas.graphql, this.clock.nowMs());
  }

  /** Whether GraphQL refuses the key now; nothing is counted. */
  isGraphqlBanned(key: string): boolean {
    const nowMs = this.clock.nowMs();
    const sizes = this.account.knobs.quotas.graphql;
    const copy = structuredClone(this.graphqlQuotaOf(key));
    return !takeQuota(copy, sizes, nowMs).allowed;
  }

  /** Every call of the service is refused until then. */
  ban(api: 'graphql' | 'v2', untilMs: number): void {
    if (api === 'v2') this.v2Quota.bannedUntilMs = untilMs;
    else for (const { key } of this.keys) this.graphqlQuotaOf(key).bannedUntilMs = untilMs;
  }

  /** Counts the call, and lets it meet the fault that waits for it. */
  async meet(api: ApiName, operations: readonly string[], run: () => Promise<Answer>): Promise<Answer> {
    const name = `${api} ${operations.join('+')}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const fault = this.takeFault(api, operations);
    if (fault === null) return run();
    const { delayMs = 0, afterwards = false } = fault;
    if (afterwards) {
      const answer = await run();
      await this.clock.sleep(delayMs);
      return answerOf(fault) ?? answer;
    }
    await this.clock.sleep(delayMs);
    return answerOf(fault) ?? run();
  }

  private takeFault(api: ApiName, operations: readonly string[]): CallFault | null {
    const index = this.faults.findIndex(
      (fault) => fault.api === api && (fault.operation === undefined || operations.includes(fault.operation)),
    );
    const fault = this.faults[index];
    if (!fault) return null;
    const left = (fault.times ?? 1) - 1;
    if (left > 0) this.faults[index] = { ...fault, times: left };
    else this.faults.splice(index, 1);
    return fault;
  }

  private graphqlQuotaOf(key: string): QuotaUse {
    const use = this.graphqlQuotas.get(key) ?? newQuotaUse();
    this.graphqlQuotas.set(key, use);
    return use;
  }
}

function answerOf({ cut, status, body, headers = {} }: CallFault): Answer | null {
  if (cut) return CUT;
  if (status === undefined) return null;
  if (body === undefined) return html(status, headers);
  if (typeof body !== 'string') return json(status, body, headers);
  return { kind: 'answer', status, headers: { 'content-type': 'text/html', ...headers }, body };
}
