import { openSync } from 'node:fs';
import type { ClusterFile } from '@pagefleet/contract';
import { type ListedPod, openProvider as openAccount, type Provider } from '@pagefleet/providers';
import { clusterPaths, createLogger } from '@pagefleet/runtime';

/** The provider's account seen without the controller: what is rented is what the listing says. */
export function openProvider(cluster: ClusterFile): Provider {
  const paths = clusterPaths(cluster.stateDir);
  const logger = createLogger({
    component: 'cli',
    level: cluster.config.logLevel,
    destination: openSync(paths.logFile('cli'), 'a', 0o600),
  });
  return openAccount(cluster, logger);
}

export async function listOwnPods(provider: Provider, cluster: ClusterFile): Promise<ListedPod[]> {
  const pods = await provider.list();
  return pods.filter((pod) => pod.mark?.clusterId === cluster.clusterId);
}

/** `ocr-demo-1a2b3c4d  $0.00/h` */
export function describePod({ id, name, priceUsdPerHour }: ListedPod): string {
  const price = priceUsdPerHour === null ? 'price unknown' : `$${priceUsdPerHour.toFixed(2)}/h`;
  return `${id}  ${name}  ${price}`;
}
