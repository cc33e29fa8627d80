import { createHash } from 'node:crypto';
import { imageOf, isProfileName, type Pool, placementOf, transportOf } from '@pagefleet/contract';

/** What of a pool reaches its pods, whatever reads there. Caps, names and patience may change without making a pod another one. */
const REACHES_THE_POD = [
  'provider',
  'engine',
  'width',
  'deadManMs',
] as const satisfies readonly (keyof Pool)[];
const REACHES_THE_CPU_ENGINES = [
  'languages',
  'dpi',
  'tesseract',
  'pageTimeoutMs',
  'sleepMs',
] as const satisfies readonly (keyof Pool)[];

/** What of the rented machine makes a pod another one; which card it has and what it costs does not. */
const MAKES_THE_POD = [
  'startCommand',
  'diskGb',
  'minCuda',
  'networkVolume',
  'globalVolume',
  'volumePath',
] as const satisfies readonly (keyof Pool['machine'])[];

/** Tells whether a running pod was launched with what its pool says now. 16 hex digits. */
export function configHashOf(pool: Pool): string {
  const seen: unknown[] = [...REACHES_THE_POD, ...ofEngine(pool)].map((name) => [name, pool[name]]);
  if (isProfileName(pool.engine)) seen.push(['placement', placementOf(pool)]);
  if (pool.provider !== 'local') {
    seen.push(['image', imageOf(pool)], ['transport', transportOf(pool)]);
    seen.push(...MAKES_THE_POD.map((name) => [name, pool.machine[name]]));
  }
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex').slice(0, 16);
}

/** The model server answers to the names of its pool. Where the worker reads, how it reads does not reach the pod. */
function ofEngine(pool: Pool): readonly (keyof Pool)[] {
  if (!isProfileName(pool.engine)) return REACHES_THE_CPU_ENGINES;
  return placementOf(pool) === 'pod' ? ['models', 'vllm', 'reading'] : ['models', 'vllm'];
}
