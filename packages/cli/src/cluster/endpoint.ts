import type { ClusterFile } from '@pagefleet/contract';

/** Where clients reach the cluster. An address that means "all" is reached by loopback. */
export function endpointUrl({ config }: ClusterFile): string {
  const { host, port } = config.listen;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** The controller itself, past nginx: for `down`, which must work when nginx does not. */
export function controllerUrl({ ports }: ClusterFile): string {
  return `http://127.0.0.1:${ports.controller}`;
}
