import {
  type ApiBudget,
  bannedUntil,
  callsOfHour,
  countCall,
  isOverBudget,
  LONGEST_BAN_MS,
  NO_CALLS,
  type RateWindow,
  withBan,
} from '@pagefleet/core';
import type { Logger } from '@pagefleet/runtime';
import type { ApiUsage } from '../port.ts';
import { API_NAMES, type ApiName, type Clock } from './api-call.ts';
import type { ApiState } from './route-call.ts';
import type { UsageEntry, UsageFile } from './usage-file.ts';

export interface ApiMeters {
  /** Takes in what other processes did and learnt. */
  refresh(): Promise<void>;
  count(api: ApiName, operation: string): Promise<void>;
  ban(api: ApiName, untilMs: number): Promise<void>;
  note(api: ApiName, windows: readonly RateWindow[]): void;
  bannedUntilMs(api: ApiName): number | null;
  states(): Record<ApiName, ApiState>;
  usage(): ApiUsage[];
}

export interface MeterOptions {
  readonly file: UsageFile;
  /** 0 = none; REST v2 has none: it is where the rest goes */
  readonly graphqlHourlyBudget: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const LOG_EVERY_MS = 600_000;

/** Counts and bans of both APIs, shared through a file with the other processes of this machine. */
export function createApiMeters({ file, graphqlHourlyBudget, clock, logger }: MeterOptions): ApiMeters {
  const budgets: Record<ApiName, ApiBudget> = { rest: NO_CALLS, graphql: NO_CALLS };
  const limits: Record<ApiName, number> = { rest: 0, graphql: graphqlHourlyBudget };
  const watch = createBudgetLog(logger, clock.nowMs());
  let reading: Promise<void> = Promise.resolve();
  let isFileBroken = false;

  function take(entries: readonly UsageEntry[]): void {
    // Thousands of lines are read when a process starts; they are summed before they are counted.
    const sums = new Map<string, { api: ApiName; operation: string; atMs: number; calls: number }>();
    for (const entry of entries) {
      if (entry.kind === 'ban') {
        const longest = Math.min(entry.untilMs, entry.atMs + LONGEST_BAN_MS);
        budgets[entry.api] = withBan(budgets[entry.api], longest);
        continue;
      }
      const key = `${entry.api} ${entry.operation} ${Math.floor(entry.atMs / 60_000)}`;
      const sum = sums.get(key) ?? { ...entry, calls: 0 };
      sum.calls += 1;
      sums.set(key, sum);
    }
    for (const sum of [...sums.values()].sort((a, b) => a.atMs - b.atMs)) {
      budgets[sum.api] = countCall(budgets[sum.api], sum);
    }
  }

  function fileFailed(err: unknown): void {
    if (!isFileBroken) logger.warn({ err }, 'runpod_usage_not_shared');
    isFileBroken = true;
  }

  function refresh(): Promise<void> {
    reading = reading.then(() => file.readNew().then(take, fileFailed));
    return reading;
  }

  /** A file that cannot be written stops nothing: this process still knows what it did. */
  async function record(entry: UsageEntry): Promise<void> {
    try {
      await file.append(entry);
      isFileBroken = false;
    } catch (err) {
      fileFailed(err);
      take([entry]);
    }
    await refresh();
  }

  const isOver = (api: ApiName) => isOverBudget(budgets[api], limits[api], clock.nowMs());
  const bannedUntilMs = (api: ApiName) => bannedUntil(budgets[api], clock.nowMs());

  return {
    refresh,
    bannedUntilMs,
    async count(api, operation) {
      await record({ kind: 'call', api, operation, atMs: clock.nowMs() });
      watch({ api, budget: budgets[api], hourlyBudget: limits[api], nowMs: clock.nowMs() });
    },
    async ban(api, untilMs) {
      // At once, so that a call which is about to be sent is held back too.
      budgets[api] = withBan(budgets[api], untilMs);
      await record({ kind: 'ban', api, untilMs, atMs: clock.nowMs() });
    },
    note(api, windows) {
      if (windows.length > 0) budgets[api] = { ...budgets[api], windows };
    },
    states: () => {
      const stateOf = (api: ApiName) => ({
        isBanned: bannedUntilMs(api) !== null,
        isOverBudget: isOver(api),
      });
      return { rest: stateOf('rest'), graphql: stateOf('graphql') };
    },
    usage: () =>
      API_NAMES.map((api) => ({
        api,
        callsLastHour: callsOfHour(budgets[api], clock.nowMs()).total,
        hourlyBudget: limits[api] || null,
        overBudget: isOver(api),
        bannedUntilMs: bannedUntilMs(api),
        windows: budgets[api].windows.map(({ window, limit, remaining }) => ({ window, limit, remaining })),
      })),
  };
}

/** the rate every 10 min; reaching the budget at once, and every 10 min while it lasts. */
function createBudgetLog(logger: Logger, startMs: number) {
  const rateLoggedMs: Record<ApiName, number> = { rest: startMs, graphql: startMs };
  const overLoggedMs = new Map<ApiName, number>();

  return (now: { api: ApiName; budget: ApiBudget; hourlyBudget: number; nowMs: number }): void => {
    const { api, budget, hourlyBudget, nowMs } = now;
    const { total, byOperation } = callsOfHour(budget, nowMs);
    if (!isOverBudget(budget, hourlyBudget, nowMs)) {
      overLoggedMs.delete(api);
    } else if (nowMs - (overLoggedMs.get(api) ?? Number.NEGATIVE_INFINITY) >= LOG_EVERY_MS) {
      overLoggedMs.set(api, nowMs);
      logger.warn({ api, callsLastHour: total, hourlyBudget }, 'runpod_over_budget');
    }
    if (nowMs - rateLoggedMs[api] < LOG_EVERY_MS) return;
    rateLoggedMs[api] = nowMs;
    logger.info({ api, callsLastHour: total, byOperation }, 'runpod_calls');
  };
}
