import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { NginxBox } from './size-nginx.ts';

/** Where the kernel does not say, the least that every system in use gives. */
const FALLBACK = { descriptors: 1_024, somaxconn: 128 } as const;

export function observeNginxBox(): NginxBox {
  return {
    cores: availableParallelism(),
    descriptors: hardDescriptorLimit(readOrEmpty('/proc/self/limits')),
    somaxconn: Number(readOrEmpty('/proc/sys/net/core/somaxconn').trim()) || FALLBACK.somaxconn,
  };
}

/** `Max open files   1024   524288   files`: soft, then hard. */
function hardDescriptorLimit(limits: string): number {
  const match = /^Max open files\s+\S+\s+(\S+)/m.exec(limits);
  if (match?.[1] === 'unlimited') return 1_048_576;
  return Number(match?.[1]) || FALLBACK.descriptors;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
