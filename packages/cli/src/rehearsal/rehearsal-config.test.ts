import { loadConfig } from '@pagefleet/runtime';
import { describe, expect, it } from 'vitest';
import { rehearsalConfig } from './rehearsal-config.ts';

const cloud = { url: 'http://127.0.0.1:1234', apiKeyFile: '/state/rehearsal/api-key' };
const local = loadConfig({ env: {}, cwd: import.meta.dirname }).config;

describe('a rehearsal', () => {
  it('rents_every_pool_from_the_pretended_cloud_and_from_nowhere_else', () => {
    const config = rehearsalConfig(local, cloud);
    expect(config.pools.map(({ provider }) => provider)).toEqual(local.pools.map(() => 'runpod'));
    expect(config.runpod).toMatchObject({
      restUrl: 'http://127.0.0.1:1234/v2',
      graphqlUrl: 'http://127.0.0.1:1234/graphql',
      apiKeyFile: cloud.apiKeyFile,
    });
  });

  it('has_budgets_and_a_ceiling_of_its_own_only_where_none_are_set (R-051)', () => {
    const config = rehearsalConfig(local, cloud);
    expect(config.money).toMatchObject({ usdPerHour: 10, usdPerDay: 50 });
    expect(config.pools[0]?.machine.maxUsdPerHour).toBe(1);
    const set = { ...local, money: { ...local.money, usdPerHour: 2, usdPerDay: 3 } };
    expect(rehearsalConfig(set, cloud).money).toMatchObject({ usdPerHour: 2, usdPerDay: 3 });
  });

  it('keeps_what_makes_the_pool_and_what_limits_it', () => {
    const [before] = local.pools;
    const [after] = rehearsalConfig(local, cloud).pools;
    for (const name of ['name', 'engine', 'width', 'minPods', 'maxPods', 'languages'] as const)
      expect(after?.[name]).toEqual(before?.[name]);
  });
});
