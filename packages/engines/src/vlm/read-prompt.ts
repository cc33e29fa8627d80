import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PagefleetError, type ProfileName } from '@pagefleet/contract';

const OURS = join(import.meta.dirname, '..', '..', 'prompts');
const FILE = 'page.txt';

/**
 * The prompt of an engine: `<folder>/<engine>/page.txt`, or `<folder>/page.txt`; without a folder the one in our own words.
 * The model was trained on its own wording, which is not ours to copy: see docs/engines.md for where to take it from and
 * what ours costs.
 */
export async function readPrompt(profile: ProfileName, folder: string): Promise<string> {
  const places =
    folder === '' ? [join(OURS, profile, FILE)] : [join(folder, profile, FILE), join(folder, FILE)];
  for (const place of places) {
    const text = await readFile(place, 'utf8').catch(() => null);
    if (text !== null && text.trim() !== '') return text.trim();
  }
  throw new PagefleetError(
    'config_invalid',
    `no prompt for ${profile}: expected its text in ${places.join(' or ')}`,
  );
}
