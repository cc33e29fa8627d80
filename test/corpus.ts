import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of real documents with ground truth stands beside the checkout, not in it. */
const ROOT = join(import.meta.dirname, '../../shared/corpus');

/** Why corpus tests cannot run here, or null when they can. Tests skip with exactly this text. */
export const corpusMissing: string | null = existsSync(ROOT)
  ? null
  : 'the corpus folder ../shared/corpus is absent: put it beside the checkout to run this test';

/** Absolute path of a corpus file: `corpusPath('pages', 'linn.png')`. Throws when the folder or file is absent. */
export function corpusPath(...parts: string[]): string {
  if (corpusMissing) throw new Error(corpusMissing);
  const path = join(ROOT, ...parts);
  if (!existsSync(path)) throw new Error(`the corpus has no file ${parts.join('/')}`);
  return path;
}
