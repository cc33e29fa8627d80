import type { Pool } from '../config/schema.ts';
import { CHANDRA } from './chandra.ts';
import { OLMOCR } from './olmocr.ts';
import { type EngineProfile, PROFILE_NAMES, type ProfileName } from './profile.ts';
import { SURYA } from './surya.ts';

/** Every engine that reads through a model server; a new one is a file beside these and a line here. */
export const ENGINE_PROFILES: Readonly<Record<ProfileName, EngineProfile>> = {
  surya: SURYA,
  chandra: CHANDRA,
  olmocr: OLMOCR,
};

export function isProfileName(engine: string): engine is ProfileName {
  return (PROFILE_NAMES as readonly string[]).includes(engine);
}

/** Where the pages of an engine on a model server are drawn and prompted (`pools[].placement`). */
export function placementOf({ placement, provider }: Pick<Pool, 'placement' | 'provider'>): 'worker' | 'pod' {
  if (placement !== 'auto') return placement;
  return provider === 'local' ? 'pod' : 'worker';
}
