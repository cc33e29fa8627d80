import type { Pool } from '../config/schema.ts';
import { ENGINE_PROFILES, isProfileName } from './index.ts';
import type { ProfileName } from './profile.ts';

/** Where the pages of an engine on a model server are drawn and prompted (`pools[].placement`). */
export function placementOf({ placement, provider }: Pick<Pool, 'placement' | 'provider'>): 'worker' | 'pod' {
  if (placement !== 'auto') return placement;
  return provider === 'local' ? 'pod' : 'worker';
}

/** The pods of the pool run a stock image of the model server beside our companion, not our gateway. */
export function isStock(pool: Pick<Pool, 'engine' | 'placement' | 'provider'>): boolean {
  return isProfileName(pool.engine) && placementOf(pool) === 'worker';
}

/** The pool’s pages are drawn and prompted on this machine, so that is where `reading.prompts` names a folder. */
export function promptsAreHere(pool: Pick<Pool, 'engine' | 'placement' | 'provider'>): boolean {
  return isStock(pool) || (isProfileName(pool.engine) && pool.provider === 'local');
}

/** Files that may hold the prompt of an engine, in the order of their precedence. */
export function promptPlaces(profile: ProfileName, folder: string): string[] {
  return [`${folder}/${profile}/page.txt`, `${folder}/page.txt`];
}

/** How the pods of the pool are spoken to (`pools[].machine.transport`). */
export function transportOf(pool: Pool): 'tls-psk' | 'plain-tcp' | 'proxy' {
  const { transport } = pool.machine;
  if (transport !== 'auto') return transport;
  return isStock(pool) ? 'proxy' : 'tls-psk';
}

/** The release that Surya pins, since the models are young. */
const STOCK_IMAGE = 'vllm/vllm-openai:v0.20.1';

/** The container image of the pool’s pods; empty: none is known. */
export function imageOf(pool: Pool): string {
  return pool.machine.image || (isStock(pool) ? STOCK_IMAGE : '');
}

/** Every name beside the pool’s own that leads a request to it: what the operator wrote, its adapters, its engine’s model. */
export function modelNamesOf({ engine, models, vllm }: Pick<Pool, 'engine' | 'models' | 'vllm'>): string[] {
  const own = isProfileName(engine) ? [ENGINE_PROFILES[engine].servedName] : [];
  return [...new Set([...models, ...vllm.loras.map(({ name }) => name), ...own])];
}
