import { createHash } from 'node:crypto';
import type { Pool } from '@pagefleet/contract';

/** What of a pool reaches its pods. Caps, names and patience may change without making a pod another one. */
const REACHES_THE_POD = [
  'provider',
  'engine',
  'width',
  'deadManMs',
  'languages',
  'dpi',
  'tesseract',
  'pageTimeoutMs',
  'sleepMs',
] as const satisfies readonly (keyof Pool)[];

/** What of the rented machine makes a pod another one; which card it has and what it costs does not. */
const MAKES_THE_POD = [
  'image',
  'startCommand',
  'diskGb',
  'minCuda',
  'networkVolume',
  'globalVolume',
  'volumePath',
  'transport',
] as const satisfies readonly (keyof Pool['machine'])[];

/** Tells whether a running pod was launched with what its pool says now. 16 hex digits. */
export function configHashOf(pool: Pool): string {
  const seen: unknown[] = REACHES_THE_POD.map((name) => [name, pool[name]]);
  if (pool.provider !== 'local') seen.push(...MAKES_THE_POD.map((name) => [name, pool.machine[name]]));
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex').slice(0, 16);
}
