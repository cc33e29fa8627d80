import { join } from 'node:path';
import { type ProfileName, promptPlaces } from '@pagefleet/contract';
import { readPromptFile } from '@pagefleet/runtime';

const OURS = join(import.meta.dirname, '..', '..', 'prompts');

/**
 * The prompt of an engine: `<folder>/<engine>/page.txt`, or `<folder>/page.txt`; without a folder the one in our own words.
 * The model was trained on its own wording, which is not ours to copy: see docs/engines.md for where to take it from and
 * what ours costs.
 */
export async function readPrompt(profile: ProfileName, folder: string): Promise<string> {
  return await readPromptFile(promptPlaces(profile, folder || OURS));
}
