import { type ClusterFile, type Config, isStock, type Pool } from '@pagefleet/contract';
import { clusterPaths } from '@pagefleet/runtime';

/** The image whose pods the pretended cloud runs as gateway processes of this machine. */
const REHEARSAL_IMAGE = 'pagefleet/gateway:rehearsal';
/** Pretended money: enough for a few pods of the dearest card on the list. */
const USD = { perHour: 10, perDay: 50, ceiling: 1 } as const;
/** The pretended cloud boots a pod in some seconds, so waiting and idling are weighed against that. */
const BOOT = { estimateMs: 10_000, deadlineMs: 300_000, idleMs: 60_000 } as const;

export interface RehearsalCloud {
  readonly url: string;
  readonly apiKeyFile: string;
}

/** Whether what `up` decided was decided for a rehearsal. */
export function isRehearsal({ stateDir, config }: Pick<ClusterFile, 'stateDir' | 'config'>): boolean {
  // The file of an older version does not say.
  return (config.runpod?.apiKeyFile ?? '').startsWith(`${clusterPaths(stateDir).rehearsalDir}/`);
}

/** How the cluster is brought up again with the same pods. */
export function upAgain(cluster: ClusterFile): string {
  return isRehearsal(cluster) ? 'pagefleet up --provider fake-runpod' : 'pagefleet up';
}

/**
 * The same cluster with every pool rented from the pretended cloud. What the operator set for a rented pool stays, but for
 * the image and for times that a pretended boot makes shorter.
 */
export function rehearsalConfig(config: Config, cloud: RehearsalCloud): Config {
  const { money } = config;
  return {
    ...config,
    pools: config.pools.map(rehearsalPool),
    money: {
      ...money,
      usdPerHour: money.usdPerHour || USD.perHour,
      usdPerDay: money.usdPerDay || USD.perDay,
    },
    runpod: {
      ...config.runpod,
      restUrl: `${cloud.url}/v2`,
      graphqlUrl: `${cloud.url}/graphql`,
      apiKeyFile: cloud.apiKeyFile,
    },
  };
}

function rehearsalPool(pool: Pool): Pool {
  const { machine } = pool;
  const rented: Pool = { ...pool, provider: 'runpod' };
  // A stock image is pretended as such: our companion in it, beside a simulated model server. The cloud's proxy is not.
  const place = isStock(rented) ? { image: '', transport: 'plain-tcp' as const } : { image: REHEARSAL_IMAGE };
  return {
    ...rented,
    bootEstimateMs: BOOT.estimateMs,
    bootDeadlineMs: Math.min(pool.bootDeadlineMs, BOOT.deadlineMs),
    idleTimeoutMs: Math.min(pool.idleTimeoutMs, BOOT.idleMs),
    machine: {
      ...machine,
      ...place,
      startCommand: [],
      maxUsdPerHour: machine.maxUsdPerHour || USD.ceiling,
    },
  };
}
