import { banMs, bannedUntil, countCall, isOverBudget, NO_CALLS, withBan } from '@pagefleet/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiName, Operation } from './api-call.ts';
import { routesOf } from './route-call.ts';

const WELL = { isBanned: false, isOverBudget: false };
const BANNED = { isBanned: true, isOverBudget: false };
const OVER = { isBanned: false, isOverBudget: true };
const OPERATIONS: readonly Operation[] = [
  'list',
  'terminate',
  'billing',
  'catalogue',
  'create',
  'create-spot',
];

describe('which API is asked (R-060)', () => {
  it.each([
    ['list', WELL, WELL, ['rest', 'graphql']],
    ['terminate', WELL, WELL, ['rest', 'graphql']],
    ['catalogue', WELL, WELL, ['graphql', 'rest']],
    ['create', WELL, WELL, ['graphql', 'rest']],
    ['create-spot', WELL, WELL, ['graphql']],
    ['list', BANNED, WELL, ['graphql']],
    ['terminate', BANNED, OVER, ['graphql']],
    ['create', WELL, BANNED, ['rest']],
    ['create', WELL, OVER, ['rest', 'graphql']],
    ['catalogue', WELL, OVER, ['rest', 'graphql']],
    ['create-spot', WELL, BANNED, []],
    ['create-spot', WELL, OVER, ['graphql']],
    ['create', BANNED, BANNED, []],
  ] as const)('%s with REST %o and GraphQL %o: %o', (operation, rest, graphql, expected) => {
    expect(routesOf(operation, { rest, graphql })).toEqual(expected);
  });

  it('a_budget_only_reroutes_and_a_ban_is_never_broken (L13)', () => {
    const event = fc.record({
      afterMs: fc.integer({ min: 0, max: 900_000 }),
      operation: fc.constantFrom(...OPERATIONS),
      refusedWithMs: fc.option(fc.integer({ min: 1, max: 40_000_000 }), { freq: 3 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (events, budget) => {
        const apis = { rest: NO_CALLS, graphql: NO_CALLS };
        const told: Record<ApiName, { atMs: number; ms: number }[]> = { rest: [], graphql: [] };
        let nowMs = 1_764_500_000_000;
        for (const { afterMs, operation, refusedWithMs } of events) {
          nowMs += afterMs;
          const isBanned = (api: ApiName) => bannedUntil(apis[api], nowMs) !== null;
          const routes = routesOf(operation, {
            rest: { isBanned: isBanned('rest'), isOverBudget: false },
            graphql: {
              isBanned: isBanned('graphql'),
              isOverBudget: isOverBudget(apis.graphql, budget, nowMs),
            },
          });
          const unlimited = routesOf(operation, { rest: WELL, graphql: WELL });
          expect([...routes].sort()).toEqual(unlimited.filter((api) => !isBanned(api)).sort());
          const [api] = routes;
          if (api === undefined) continue;
          for (const { atMs, ms } of told[api]) {
            expect(nowMs).toBeGreaterThanOrEqual(atMs + Math.min(ms, 6 * 3_600_000));
          }
          apis[api] = countCall(apis[api], { operation, atMs: nowMs });
          if (refusedWithMs === null) continue;
          told[api].push({ atMs: nowMs, ms: refusedWithMs });
          apis[api] = withBan(apis[api], nowMs + banMs([refusedWithMs], 60_000));
        }
      }),
    );
  });
});
