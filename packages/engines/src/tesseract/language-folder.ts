import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The languages that come with this package from npm. */
export const BUNDLED_LANGUAGES = ['eng', 'fra'] as const;

export interface LanguageFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** tesseract.js reads all languages from one folder, but each comes in a package of its own. */
export async function createLanguageFolder(): Promise<LanguageFolder> {
  const path = await mkdtemp(join(tmpdir(), 'pagefleet-languages-'));
  for (const language of BUNDLED_LANGUAGES) {
    const file = `${language}.traineddata.gz`;
    await symlink(join(dataPackage(language), '4.0.0_best_int', file), join(path, file));
  }
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export function orientationDataFolder(): string {
  return join(dataPackage('osd'), '4.0.0');
}

function dataPackage(language: string): string {
  return dirname(createRequire(import.meta.url).resolve(`@tesseract.js-data/${language}/package.json`));
}
