import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The languages that come with this package from npm. */
const DATA_FOLDERS = {
  eng: dirname(require.resolve('@tesseract.js-data/eng/package.json')),
  fra: dirname(require.resolve('@tesseract.js-data/fra/package.json')),
};
export const BUNDLED_LANGUAGES: readonly string[] = Object.keys(DATA_FOLDERS);

export interface LanguageFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** tesseract.js reads all languages from one folder, but each comes in a package of its own. */
export async function createLanguageFolder(): Promise<LanguageFolder> {
  const path = await mkdtemp(join(tmpdir(), 'pagefleet-languages-'));
  for (const [language, folder] of Object.entries(DATA_FOLDERS)) {
    const file = `${language}.traineddata.gz`;
    await symlink(join(folder, '4.0.0_best_int', file), join(path, file));
  }
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export function orientationDataFolder(): string {
  return join(dirname(require.resolve('@tesseract.js-data/osd/package.json')), '4.0.0');
}
