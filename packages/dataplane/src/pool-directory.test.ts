import { type Config, PagefleetError } from '@pagefleet/contract';
import { describe, expect, test } from 'vitest';
import { type Capacity, choosePool } from './check-capacity.ts';
import { createPoolDirectory } from './pool-directory.ts';

const POOLS = [
  { name: 'gpu', models: [], vllm: { loras: [] }, maxPods: 4, fallback: 'cpu' },
  { name: 'cpu', models: [], vllm: { loras: [] }, maxPods: 4, fallback: '' },
];

describe('R-022: a lease that says `require: fleet`', () => {
  const pools = createPoolDirectory({ pools: POOLS } as unknown as Config);
  const capacity = { pools, pods: { ofPool: () => [] }, nowMs: () => 0 } as unknown as Capacity;
  const suspended = { name: 'gpu', models: [], suspendedUntilMs: 9_000 };
  const cpu = { name: 'cpu', models: [], suspendedUntilMs: 0 };
  const poolFor = (key: string) => {
    try {
      return choosePool('gpu', pools.isFleetOnly('gpu', key), capacity);
    } catch (error) {
      return error instanceof PagefleetError ? error.code : 'another error';
    }
  };

  test('keeps_the_pages_of_its_key_from_the_fallback_while_it_lasts_and_those_of_no_other', () => {
    pools.apply([{ ...suspended, fleetOnly: ['alice'] }, cpu]);
    expect([poolFor('alice'), poolFor('bob')]).toEqual(['pool_suspected', 'cpu']);
    pools.apply([suspended, cpu]);
    expect(poolFor('alice')).toBe('cpu');
  });
});
