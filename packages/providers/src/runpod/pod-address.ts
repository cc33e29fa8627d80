import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { POD_ENV_PREFIX, POD_PORT } from '@pagefleet/contract';

/** A port of a pod as either API lists it. */
export interface PodPort {
  readonly privatePort: number | null;
  readonly publicPort: number | null;
  readonly ip: string | null;
  /** GraphQL says it; REST v2 does not */
  readonly isIpPublic: boolean | null;
}

export interface Addressed {
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  /** as it was asked for: `8000/tcp` */
  readonly exposed: readonly string[];
  readonly mapped: readonly PodPort[];
}

const INNER_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const;
const inner = new BlockList();
for (const [net, prefix] of INNER_V4) inner.addSubnet(net, prefix, 'ipv4');
const LOOPBACK = /^127\./;

/**
 * Where the gateway in a running pod is reached, as far as its listing says: the public pair of its own port, or RunPod's
 * proxy where that was asked for. An internal address is none: it belongs to whatever has it here (contract 4.7).
 */
export function podAddress(pod: Addressed, options: { loopbackIsPublic: boolean }): string | null {
  const inside = Number(pod.env[`${POD_ENV_PREFIX}PORT`] ?? 0) || POD_PORT;
  if (pod.exposed.includes(`${inside}/http`)) return `https://${pod.id}-${inside}.proxy.runpod.net`;
  for (const { privatePort, publicPort, ip, isIpPublic } of pod.mapped) {
    if (privatePort !== inside || publicPort === null || ip === null) continue;
    const isLoopback = options.loopbackIsPublic && LOOPBACK.test(ip);
    if (!isLoopback && (isIpPublic === false || !isPublicIp(ip))) continue;
    const scheme = pod.env[`${POD_ENV_PREFIX}TRANSPORT`] === 'tls-psk' ? 'psk' : 'http';
    return `${scheme}://${isIPv6(ip) ? `[${ip}]` : ip}:${publicPort}`;
  }
  return null;
}

function isPublicIp(ip: string): boolean {
  if (isIPv4(ip)) return !inner.check(ip, 'ipv4');
  return isIPv6(ip) && /^[23]/.test(ip);
}
