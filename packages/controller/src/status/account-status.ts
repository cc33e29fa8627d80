import type { AccountStatus } from '@pagefleet/contract';
import type { OfferBook } from '@pagefleet/core';
import type { ApiUsage } from '@pagefleet/providers';

/** The provider's account as it stands: its APIs' budgets and bans, and how old the catalogue is (R-061, R-062, R-064). */
export function accountStatus(
  usage: readonly ApiUsage[],
  offers: OfferBook | null,
  nowMs: number,
): AccountStatus {
  return {
    apis: usage.map((one) => ({
      api: one.api,
      calls_last_hour: one.callsLastHour,
      hourly_budget: one.hourlyBudget,
      over_budget: one.overBudget,
      banned_for_s:
        one.bannedUntilMs === null ? null : Math.max(0, Math.ceil((one.bannedUntilMs - nowMs) / 1_000)),
      windows: one.windows.map(({ window, limit, remaining }) => ({ window, limit, remaining })),
    })),
    catalogue:
      offers === null
        ? null
        : {
            source: offers.source,
            age_s: Math.max(0, Math.round((nowMs - offers.atMs) / 1_000)),
            offers: offers.offers.length,
          },
  };
}
