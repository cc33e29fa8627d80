import type { ProfileName } from '@pagefleet/contract';
import { parseChandra } from './chandra.ts';
import { parseOlmocr } from './olmocr.ts';
import type { ParseReply } from './profile-parser.ts';
import { parseSurya, parseSuryaWithAccents } from './surya.ts';

/** The parser of an engine's replies. */
export function parserOf(profile: ProfileName, accentRepair: boolean): ParseReply {
  switch (profile) {
    case 'surya':
      return accentRepair ? parseSuryaWithAccents : parseSurya;
    case 'chandra':
      return parseChandra;
    case 'olmocr':
      return parseOlmocr;
  }
}
