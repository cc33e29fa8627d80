import { describe, expect, test } from 'vitest';
import { accountStatus } from './account-status.ts';

const usage = {
  ...{ api: 'graphql', callsLastHour: 1_501, hourlyBudget: 1_500, overBudget: true, bannedUntilMs: 11_500 },
  windows: [{ window: 'day', limit: null, remaining: 0 }],
} as const;

describe('the account in status (R-061, R-062, R-064)', () => {
  test('shows_calls_budget_ban_and_what_is_left_of_each_window', () => {
    expect(accountStatus([usage], null, 1_000)).toEqual({
      apis: [
        {
          ...{
            api: 'graphql',
            calls_last_hour: 1_501,
            hourly_budget: 1_500,
            over_budget: true,
            banned_for_s: 11,
          },
          windows: [{ window: 'day', limit: null, remaining: 0 }],
        },
      ],
      catalogue: null,
    });
  });

  test('shows_the_age_of_a_catalogue_and_where_it_is_from', () => {
    const offers = { atMs: 1_000, source: 'saved', offers: [] } as const;
    expect(accountStatus([], offers, 61_000).catalogue).toEqual({ source: 'saved', age_s: 60, offers: 0 });
  });
});
