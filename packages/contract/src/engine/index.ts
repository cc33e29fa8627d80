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
