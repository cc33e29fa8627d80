import { describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.ts';
import { withProviderDefaults } from './provider-defaults.ts';

describe('defaults of a provider', () => {
  it('a_pool_on_runpod_gets_time_for_a_boot_unless_it_says_otherwise', () => {
    expect(
      withProviderDefaults({ pools: [{ provider: 'runpod', boot_deadline: '5m' }, { provider: 'local' }] }),
    ).toEqual({
      pools: [
        { provider: 'runpod', boot_deadline: '5m', boot_estimate: '700s', idle_timeout: '700s' },
        { provider: 'local' },
      ],
    });
  });

  it.each([undefined, null, 7, 'x', [], { pools: 'x' }, { pools: [null, 3] }])(
    '%j is left as it is',
    (tree) => {
      expect(withProviderDefaults(tree)).toEqual(tree);
    },
  );

  it('local_pools_keep_theirs', () => {
    const { config } = loadConfig({ env: {}, cwd: import.meta.dirname });
    expect(config.pools[0]).toMatchObject({ bootDeadlineMs: 120_000, bootEstimateMs: 3_000 });
  });
});
