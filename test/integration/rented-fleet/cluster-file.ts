import type { ClusterFile } from '@pagefleet/contract';
import { loadConfig } from '@pagefleet/runtime';
import type { FakeRunpod } from '@pagefleet/sim/fake-runpod';
import type { RentedFleetOptions } from './rented-fleet.ts';

const DEFAULTS = loadConfig({ env: {}, cwd: '/' }).config;

/** An operator's configuration: the defaults, pools of rented pods on one card, and what the test says. */
export function clusterFileOf({
  clusterId,
  fake,
  pools,
  money = {},
  control = {},
}: Pick<RentedFleetOptions, 'pools' | 'money' | 'control'> & {
  readonly clusterId: string;
  readonly fake: FakeRunpod;
}): ClusterFile {
  const [pool] = DEFAULTS.pools;
  if (pool === undefined) throw new Error('the default configuration has no pool');
  const nowhere = { nats: 0, controller: 0, backup: 0, workers: [] };
  return {
    ...{ v: 1, clusterId, stateDir: '/state', ports: nowhere, natsUrl: '', natsCredentialsFile: '' },
    ...{ secretFile: '', operatorTokenFile: '', nodeBinary: '' },
    config: {
      ...DEFAULTS,
      runpod: { ...DEFAULTS.runpod, restUrl: fake.restV2Url, graphqlUrl: fake.graphqlUrl },
      control: { ...DEFAULTS.control, ...control },
      money: { ...DEFAULTS.money, usdPerHour: 500, usdPerDay: 5_000, ...money },
      pools: pools.map(({ machine = {}, ...one }) => ({
        ...pool,
        ...{ provider: 'runpod', width: 16, minPods: 0, maxPods: 40, bootDeadlineMs: 300_000 },
        ...{ bootEstimateMs: 65_000, idleTimeoutMs: 600_000 },
        ...one,
        machine: {
          ...pool.machine,
          ...{ image: 'acme/ocr:1', cards: [{ id: 'NVIDIA A40', maxUsdPerHour: 0 }] },
          ...machine,
        },
      })),
    },
  };
}
