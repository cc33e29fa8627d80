/** One window of a provider's quota, as its API said last. */
export interface RateWindow {
  readonly window: 'minute' | 'hour' | 'day';
  readonly limit: number | null;
  readonly remaining: number;
  /** until it is full again; null = not said */
  readonly resetMs: number | null;
}

/** What is known of one API of a provider: who asked how often, and until when it may not be asked. */
export interface ApiBudget {
  /** calls by operation, in minutes since the epoch */
  readonly minutes: ReadonlyMap<number, ReadonlyMap<string, number>>;
  /** nothing is sent before that; 0 = never banned */
  readonly bannedUntilMs: number;
  readonly windows: readonly RateWindow[];
}

export interface CallCounts {
  readonly total: number;
  readonly byOperation: Readonly<Record<string, number>>;
}

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** a ban is believed for so long; then one call asks again. */
export const LONGEST_BAN_MS = 6 * 3_600_000;

export const NO_CALLS: ApiBudget = { minutes: new Map(), bannedUntilMs: 0, windows: [] };

/** Minutes that no rolling hour reaches any more are dropped, so a budget never grows. */
export function countCall(
  budget: ApiBudget,
  { operation, atMs, calls = 1 }: { operation: string; atMs: number; calls?: number },
): ApiBudget {
  const minute = Math.floor(atMs / MINUTE_MS);
  const minutes = new Map([...budget.minutes].filter(([other]) => other >= minute - HOUR_MINUTES));
  const counts = new Map(minutes.get(minute));
  counts.set(operation, (counts.get(operation) ?? 0) + calls);
  minutes.set(minute, counts);
  return { ...budget, minutes };
}

/** Of the last hour. The minute in which the hour begins counts whole: the figure is never below the truth. */
export function callsOfHour({ minutes }: ApiBudget, nowMs: number): CallCounts {
  const now = Math.floor(nowMs / MINUTE_MS);
  const byOperation: Record<string, number> = {};
  let total = 0;
  for (const [minute, counts] of minutes) {
    if (minute < now - HOUR_MINUTES || minute > now) continue;
    for (const [operation, count] of counts) {
      byOperation[operation] = (byOperation[operation] ?? 0) + count;
      total += count;
    }
  }
  return { total, byOperation };
}

/** An hourly budget of 0 is none. */
export function isOverBudget(budget: ApiBudget, hourlyBudget: number, nowMs: number): boolean {
  return hourlyBudget > 0 && callsOfHour(budget, nowMs).total >= hourlyBudget;
}

/** How long a refused API is left alone: the longest wait it told, whatever told it, or `otherwiseMs`; at most 6 h. */
export function banMs(toldMs: readonly number[], otherwiseMs: number): number {
  const told = toldMs.filter((ms) => Number.isFinite(ms) && ms > 0);
  return Math.min(told.length === 0 ? otherwiseMs : Math.max(...told), LONGEST_BAN_MS);
}

/** A ban is only ever made longer: a later answer that tells a shorter wait does not end an earlier one. */
export function withBan(budget: ApiBudget, untilMs: number): ApiBudget {
  return untilMs > budget.bannedUntilMs ? { ...budget, bannedUntilMs: untilMs } : budget;
}

export function bannedUntil({ bannedUntilMs }: ApiBudget, nowMs: number): number | null {
  return nowMs < bannedUntilMs ? bannedUntilMs : null;
}
